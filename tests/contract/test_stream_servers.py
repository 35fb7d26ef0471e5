"""What only real servers and real connections can do to us: hang, die, forget and refuse."""

import os
import signal
import socketserver
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from redis import Redis

from ppcfetch.adapters.embedded.valkey import EmbeddedValkey
from ppcfetch.adapters.redis.connections import Connections, command, connect, translated
from ppcfetch.adapters.redis.deliveries import RedisDeliveries
from ppcfetch.adapters.redis.doorbell import RedisDoorbell
from ppcfetch.adapters.redis.keys import Keys
from ppcfetch.errors import ConfigurationError, StreamUnavailable
from ppcfetch.model.lease import Holder
from tests.contract.conftest import REAL
from tests.contract.stream_rig import INTERACTIVE, LEASE, NOW, RealRig
from tests.servers import heal
from tests.waiting import wait_until

SHORT = timedelta(milliseconds=300)
LONG_BLOCK = timedelta(seconds=10)
SERVERS = {"valkey": "valkey_server", "redis 7.0": "debian_redis", "extra": "extra_redis"}


@pytest.fixture
def real(real_redis_url: str) -> Iterator[RealRig]:
    """The ports on each real server."""
    rig = RealRig(real_redis_url)
    yield rig
    rig.close()


@pytest.fixture(params=REAL)
def server(request: pytest.FixtureRequest) -> Iterator[EmbeddedValkey]:
    """Each real server, empty, and running again at the end."""
    server: EmbeddedValkey = request.getfixturevalue(SERVERS[request.param])
    heal(server)
    with Redis.from_url(server.url) as client:
        client.flushall()
    yield server
    heal(server)


@contextmanager
def impatient(url: str) -> Iterator[Connections]:
    """Clients that believe a server dead after a short time."""
    connections = connect(url, block=SHORT, answer=SHORT)
    yield connections
    connections.close()


class MuteServer(socketserver.ThreadingTCPServer):
    """Answers a client's greetings but no RPUSH, and counts these."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Mute)
        self.url = f"redis://127.0.0.1:{self.server_address[1]}/0"
        self.seen = 0
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Mute(socketserver.BaseRequestHandler):
    server: MuteServer

    def handle(self) -> None:
        while words := self.request.recv(65536):
            if b"RPUSH" in words:
                self.server.seen += 1
            else:
                word = b"+PONG" if b"PING" in words else b"+OK"
                self.request.sendall((word + b"\r\n") * (1 + words.count(b"\r\n*")))


LOSSES: dict[str, Callable[[RealRig], object]] = {
    "everything": lambda rig: rig.client.flushall(),
    "the stream": lambda rig: rig.delete_stream(),
    "the group": lambda rig: rig.destroy_group(),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_reader_whose_stream_is_lost_while_it_waits_comes_back_to_new_work(
    real: RealRig, loss: str
) -> None:
    real.census.ensure_groups()
    consumer = real.deliveries("a")
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(consumer.receive, 5, timedelta(seconds=2))
        wait_until(lambda: int(real.client.info()["blocked_clients"]) == 1, describe="it waits")
        LOSSES[loss](real)
        real.doorbell.publish([(7, INTERACTIVE)])

        received = [*waiting.result(), *consumer.receive(5, NOW), *consumer.receive(5, NOW)]

    assert [one.job_id for one in received] == [7]


def test_a_waiting_reader_is_woken_by_a_message(real: RealRig) -> None:
    real.census.ensure_groups()
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(real.deliveries("a").receive, 5, LONG_BLOCK)
        wait_until(lambda: int(real.client.info()["blocked_clients"]) == 1, describe="it waits")

        real.doorbell.publish([(7, INTERACTIVE)])

        assert [one.job_id for one in waiting.result()] == [7]


def test_a_quiet_read_may_last_longer_than_other_answers(real_redis_url: str) -> None:
    connections = connect(real_redis_url, block=SHORT * 4, answer=SHORT)
    holder, keys = Holder("a", 1), Keys("{test}")
    consumer = RedisDeliveries(connections, keys, pool=INTERACTIVE, holder=holder, lease=LEASE)
    consumer.receive(1, NOW)

    received = consumer.receive(1, SHORT * 4)

    assert received == []
    connections.close()


def test_a_command_that_is_not_answered_is_sent_once() -> None:
    with MuteServer() as server, impatient(server.url) as connections:
        with pytest.raises(StreamUnavailable), translated():
            command(connections.rest, "RPUSH", "list", "once")

        assert server.seen == 1


def test_what_was_published_to_a_server_that_hung_is_there_once(server: EmbeddedValkey) -> None:
    with impatient(server.url) as connections:
        doorbell = RedisDoorbell(connections.rest, Keys("{test}"))
        doorbell.publish([(1, INTERACTIVE)])
        os.kill(server.pid, signal.SIGSTOP)

        with pytest.raises(StreamUnavailable):
            doorbell.publish([(2, INTERACTIVE)])

        heal(server)
        doorbell.publish([(1, INTERACTIVE), (2, INTERACTIVE)])
        assert connections.rest.xlen("{test}:interactive") == 2


def test_a_killed_server_is_unavailable_and_all_goes_on_when_it_is_back(
    server: EmbeddedValkey,
) -> None:
    with impatient(server.url) as connections:
        doorbell = RedisDoorbell(connections.rest, Keys("{test}"))
        doorbell.publish([(1, INTERACTIVE)])
        os.kill(server.pid, signal.SIGKILL)
        wait_until(lambda: not server.alive(), describe="the server is dead")

        with pytest.raises(StreamUnavailable):
            doorbell.publish([(2, INTERACTIVE)])

        heal(server)
        assert doorbell.publish([(3, INTERACTIVE)]) == 1


def test_steps_that_the_server_has_forgotten_are_loaded_again(real: RealRig) -> None:
    real.doorbell.publish([(1, INTERACTIVE)])
    real.client.script_flush()

    assert real.doorbell.publish([(2, INTERACTIVE)]) == 1


def test_a_read_only_server_is_unavailable(real: RealRig) -> None:
    real.client.replicaof("127.0.0.1", "1")
    try:
        with pytest.raises(StreamUnavailable):
            real.doorbell.publish([(1, INTERACTIVE)])
    finally:
        real.client.replicaof("NO", "ONE")


def test_a_foreign_value_under_our_key_is_refused_and_left(real: RealRig) -> None:
    received = real.received(1)
    real.client.set(real.keys.dead, "foreign")

    with pytest.raises(StreamUnavailable):
        real.settling().dead_letter(received[0], "given up")

    assert real.client.get(real.keys.dead) == b"foreign"
    assert real.settling().settle(received) == 1


def test_a_user_that_may_touch_our_keys_only_can_do_everything(real: RealRig) -> None:
    real.client.acl_setuser(
        "worker", enabled=True, passwords=["+word"], keys=["{test}:*"], categories=["+@all"],
        commands=["-flushall", "-flushdb", "-keys", "-config", "-debug"],
    )  # fmt: skip
    parts = urlsplit(real.url)
    limited = RealRig(
        parts._replace(netloc=f"worker:word@{parts.netloc.rpartition('@')[2]}").geturl()
    )

    name = limited.take_name(1)
    received = limited.received(1, 2, 3, by=name.holder.consumer)
    limited.settling().dead_letter(received[0], "given up")
    limited.settling().move(received[1:2], INTERACTIVE)
    limited.deliveries(name.holder.consumer).history("0", 5)
    limited.census.delete_orphans()
    limited.census_of_the_hasty.forget_consumers()

    assert limited.counts().undelivered == 1
    limited.close()
    real.client.acl_deluser("worker")


def test_no_error_shows_a_password(server: EmbeddedValkey) -> None:
    parts = urlsplit(server.url)
    wrong = parts._replace(netloc=f":hunter2@{parts.netloc.rpartition('@')[2]}").geturl()
    with impatient(wrong) as connections:
        doorbell = RedisDoorbell(connections.rest, Keys("{test}"))

        with pytest.raises(StreamUnavailable) as refused:
            doorbell.publish([(1, INTERACTIVE)])

    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "address", ["http://u:hunter2@h/0", "redis://u:hunter2@h:port/0", "u:hunter2@h", ""]
)
def test_an_address_that_cannot_be_read_is_refused_without_being_shown(address: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        connect(address, block=SHORT)

    assert "hunter2" not in str(refused.value)
    assert refused.value.__cause__ is None
