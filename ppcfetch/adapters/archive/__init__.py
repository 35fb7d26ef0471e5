"""The public ad archive: asking over HTTP, and reading what it answers.

Reading order: `client` asks, `wire` says what is sent and what an answer means, `answer` and
`rows` check it, `exchange` and `network` bound what comes over the line.
"""
