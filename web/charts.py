"""Where to draw what: plain geometry for the pictures that the templates write as SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

WEEKS = 52
STEP = 14
TOP = 14
CELL = 11
DAYS = 7
MONTH_GAP = 3
LEVELS = 4
LONGEST_BAR = 100
SKETCH_WIDTH = 240
SKETCH_HEIGHT = 72


@dataclass(frozen=True, slots=True)
class Cell:
    """One day of the map; level 0 is empty, 1 the quietest days, `LEVELS` the busiest."""

    x: int
    y: int
    level: int
    day: date
    ads: int


@dataclass(frozen=True, slots=True)
class Month:
    """The name of a month above the week in which it begins."""

    x: int
    name: str

    @property
    def is_on_seam(self) -> bool:
        """Tell whether the name is cut where a narrow screen begins to show the map."""
        return self.x == (WEEKS // 2 - 1) * STEP


@dataclass(frozen=True, slots=True)
class ActivityMap:
    """Weeks as columns, newest last, Monday on top.

    Shape: weeks holds (Monday, ads on its busiest day), for the table beside the picture;
    quietest is the least on a day with ads, 0 when there is none.
    """

    cells: tuple[Cell, ...]
    months: tuple[Month, ...]
    weeks: tuple[tuple[date, int], ...]
    width: int
    height: int
    busiest: int
    quietest: int


def activity_map(per_day: Mapping[date, int], today: date, weeks: int = WEEKS) -> ActivityMap:
    """Lay out so many weeks up to today; days that the mapping leaves out count as none."""
    first = today - timedelta(days=today.weekday() + DAYS * (weeks - 1))
    days = [first + timedelta(days=offset) for offset in range((today - first).days + 1)]
    counts = [per_day.get(day, 0) for day in days]
    busiest, quietest = max(counts), min(filter(None, counts), default=0)
    cells = tuple(
        Cell(
            x=index // DAYS * STEP,
            y=TOP + index % DAYS * STEP,
            level=_level(ads, quietest, busiest),
            day=day,
            ads=ads,
        )
        for index, (day, ads) in enumerate(zip(days, counts, strict=True))
    )
    return ActivityMap(
        cells=cells,
        months=_months(days[::DAYS]),
        weeks=tuple(
            (days[start], max(counts[start : start + DAYS])) for start in range(0, len(days), DAYS)
        ),
        width=weeks * STEP - (STEP - CELL),
        height=TOP + DAYS * STEP - (STEP - CELL),
        busiest=busiest,
        quietest=quietest,
    )


def bar_lengths(counts: Sequence[int]) -> tuple[int, ...]:
    """Give the length of each bar, from 1 to `LONGEST_BAR`, zero for zero."""
    most = max(counts, default=0)
    return tuple(max(1, round(count * LONGEST_BAR / most)) if count else 0 for count in counts)


@dataclass(frozen=True, slots=True)
class Frame:
    """Where to draw a picture's outline in the sketch of a card."""

    y: float
    width: float
    height: float

    @property
    def middle_x(self) -> float:
        """The middle, from the left."""
        return 1 + self.width / 2

    @property
    def middle_y(self) -> float:
        """The middle, from above."""
        return self.y + self.height / 2

    @property
    def is_roomy(self) -> bool:
        """Tell whether a little landscape fits in."""
        return self.width >= SKETCH_HEIGHT / 2 and self.height >= SKETCH_HEIGHT / 2


def frame(width: int | None, height: int | None, ad_format: str) -> Frame:
    """Give the outline of a picture in its own proportions; without them, those of its kind."""
    if not width or not height:
        width, height = (16, 9) if ad_format == "video" else (4, 3)
    scale = min((SKETCH_WIDTH - 2) / width, (SKETCH_HEIGHT - 2) / height)
    drawn = max(round(height * scale, 1), 3)
    return Frame(
        y=round((SKETCH_HEIGHT - drawn) / 2, 1), width=max(round(width * scale, 1), 3), height=drawn
    )


def _level(ads: int, quietest: int, busiest: int) -> int:
    """Give the part of what the year holds, cut in equal ones: windows are long, days alike."""
    if ads <= 0:
        return 0
    if busiest == quietest:
        return LEVELS
    return 1 + (ads - quietest) * LEVELS // (busiest - quietest + 1)


def _months(mondays: Sequence[date]) -> tuple[Month, ...]:
    found: list[Month] = []
    last_column = -MONTH_GAP
    for column, monday in enumerate(mondays):
        begins = monday.day <= DAYS
        if begins and column - last_column >= MONTH_GAP:
            found.append(Month(x=column * STEP, name=f"{monday:%b}"))
            last_column = column
    return tuple(found)
