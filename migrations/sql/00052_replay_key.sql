-- The key under which a workspace's gateways hide the texts that decision
-- records keep for replay. It is made once, by the server's strong random
-- generator (244 bits of it), and never changes: what was recorded under another
-- one could not be compared any more.

-- +goose Up
ALTER TABLE settings ADD COLUMN replay_key bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
    CONSTRAINT settings_replay_key_check CHECK (length(replay_key) = 32);

-- +goose Down
ALTER TABLE settings DROP COLUMN replay_key;
