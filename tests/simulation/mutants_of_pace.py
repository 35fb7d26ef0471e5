"""Sabotages of the pace and of the ways out; see `mutants.py`."""

PACE_FOLDER = "ppcfetch/adapters/redis/scripts/pace"
PACE = "tests/contract/test_pace.py"
SHARES = "tests/contract/test_pace_shares.py"
PROXIES = "tests/contract/test_proxies.py"

ROWS = (
    (
        "nobody calls over an egress that rests",
        f"{PACE_FOLDER}/ask.lua",
        "local wait = shut(state, now, trial_ms)",
        "local wait = 0",
        SHARES,
    ),
    (
        "bulk has its share while those who wait would take all",
        f"{PACE_FOLDER}/ask.lua",
        "if is_bulk and state.kept >= 1 - EXACT then",
        "if false then",
        SHARES,
    ),
    (
        "bulk leaves a reserve to those who wait",
        f"{PACE_FOLDER}/ask.lua",
        "(is_bulk and reserve or 0) + 1",
        "0 + 1",
        PACE,
    ),
    (
        "unanswered calls are counted over all egresses",
        f"{PACE_FOLDER}/went_badly.lua",
        "math.max(state.failures, unanswered)",
        "state.failures",
        SHARES,
    ),
    (
        "being throttled slows the egress",
        f"{PACE_FOLDER}/went_badly.lua",
        "state.factor = math.max(state.factor / 2, tonumber(ARGV[6]))",
        "state.factor = 1",
        PACE,
    ),
    (
        "a proxy's refusal is not the archive's",
        "ppcfetch/adapters/archive/client.py",
        "if reply.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED and way.name != DIRECT:",
        "if False:",
        PROXIES,
    ),
)
