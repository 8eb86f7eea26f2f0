-- Undoes people.sql: roles are common to all databases.
\set ECHO none
RESET ROLE;
SET client_min_messages = error;
DROP OWNED BY :"owner", :"analyst" CASCADE;
DROP ROLE :"owner", :"analyst";
\set ECHO all
