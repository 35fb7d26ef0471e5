"""How gunicorn runs the site; address, processes and threads come from the command line."""

worker_class = "gthread"
preload_app = False
timeout = 30
graceful_timeout = 20
keepalive = 5
control_socket_disable = True  # on by default, in the home folder, shared by all instances
accesslog = None  # the site logs each answer itself, as one event
errorlog = "-"
loglevel = "warning"
limit_request_line = 4094
limit_request_fields = 60
limit_request_field_size = 8190
forwarded_allow_ips = ""  # the site itself counts the proxies that may be believed
