-- The dynamic route that an API key is attached to. A route is never deleted as
-- a row, so nothing here has to go with it.

-- +goose Up
ALTER TABLE api_keys ADD COLUMN route_id uuid,
    ADD CONSTRAINT api_keys_route_id_fkey FOREIGN KEY (workspace_id, route_id) REFERENCES dynamic_routes (workspace_id, id);
CREATE INDEX api_keys_route_id_idx ON api_keys (workspace_id, route_id) WHERE route_id IS NOT NULL;

-- +goose Down
DROP INDEX api_keys_route_id_idx;
ALTER TABLE api_keys DROP COLUMN route_id;
