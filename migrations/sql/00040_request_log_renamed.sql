-- Requests that were not decided for the model that they named: refused before
-- that, or sent elsewhere. Alerts about models that go ask for them by name.

-- +goose Up
CREATE INDEX request_log_renamed_idx ON request_log (workspace_id, requested_model, id)
    WHERE requested_model <> decided_model AND id = primary_id;

-- +goose Down
DROP INDEX request_log_renamed_idx;
