"""PostgreSQL: the truth. The only code that imports SQLAlchemy and psycopg."""
