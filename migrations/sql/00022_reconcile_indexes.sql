-- The reconciler reads keys and workspaces by range. Without these it would
-- read the whole table for each range.

-- +goose Up
CREATE INDEX api_keys_part_idx ON api_keys (left(kid, 2));
CREATE INDEX workspace_revisions_part_idx ON workspace_revisions (right(workspace_id::text, 2));

-- +goose Down
DROP INDEX workspace_revisions_part_idx;
DROP INDEX api_keys_part_idx;
