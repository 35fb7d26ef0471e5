"""How gunicorn runs the site; address, processes and threads come from the command line."""

from typing import Any

from ppcfetch.adapters import logs

worker_class = "gthread"
preload_app = False
timeout = 30
graceful_timeout = 20
keepalive = 5
control_socket_disable = True  # on by default, in the home folder, shared by all instances
accesslog = None  # the site logs each answer itself, as one event
loglevel = "warning"
limit_request_line = 4094
limit_request_fields = 60
limit_request_field_size = 8190
forwarded_allow_ips = ""  # the site itself counts the proxies that may be believed


def on_starting(server: Any) -> None:
    """Send gunicorn's own words through the log of the project."""
    logs.configure(process="web")
    server.log.error_log.handlers.clear()
    server.log.error_log.propagate = True
