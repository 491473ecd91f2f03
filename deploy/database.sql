-- Who may log in, made once when the database is. Neither login is a superuser, and neither has the rights of the two
-- roles before it takes one on, as every transaction of the server does.
--
-- recollect_owner   owns the tables: `recollect db upgrade`, and the worker, as only an owner can make an index
-- recollect_server  owns nothing: `recollect serve`
--
-- For psql 14 or newer, as a superuser, in the database that is to be Recollect's.
\getenv owner_password RECOLLECT_OWNER_PASSWORD
\getenv server_password RECOLLECT_SERVER_PASSWORD

CREATE ROLE recollect_app NOLOGIN;
CREATE ROLE recollect_system NOLOGIN;
CREATE ROLE recollect_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE recollect_server LOGIN PASSWORD :'server_password';
GRANT recollect_app, recollect_system TO recollect_owner, recollect_server WITH INHERIT FALSE, SET TRUE;

-- Only a superuser may add it.
CREATE EXTENSION vector;

ALTER DATABASE :"DBNAME" OWNER TO recollect_owner;
