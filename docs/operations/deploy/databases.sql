-- Runs once, when PostgreSQL makes its data folder: a user and a database for stores, and the same for Prefect.
\set ON_ERROR_STOP on
\set store_password `cat /run/secrets/store_password`
\set prefect_password `cat /run/secrets/prefect_password`
CREATE ROLE piecework LOGIN PASSWORD :'store_password';
CREATE DATABASE labels OWNER piecework TEMPLATE template0 ENCODING 'UTF8';
CREATE ROLE prefect LOGIN PASSWORD :'prefect_password';
CREATE DATABASE prefect OWNER prefect TEMPLATE template0 ENCODING 'UTF8';
-- By default, anyone who has a login may connect to any database.
REVOKE CONNECT ON DATABASE labels, prefect FROM PUBLIC;
