-- Revoking a key takes the guardrails off it, which looks them up by the key.
-- Keys that were revoked before are released here.

-- +goose Up
CREATE INDEX guardrail_keys_target_id_idx ON guardrail_keys (workspace_id, target_id);
-- The owner reaches the rows only while the security is not forced on it.
ALTER TABLE guardrail_keys NO FORCE ROW LEVEL SECURITY;
ALTER TABLE api_keys       NO FORCE ROW LEVEL SECURITY;
DELETE FROM guardrail_keys USING api_keys
 WHERE api_keys.workspace_id = guardrail_keys.workspace_id AND api_keys.id = guardrail_keys.target_id AND api_keys.status = 'revoked';
ALTER TABLE guardrail_keys FORCE ROW LEVEL SECURITY;
ALTER TABLE api_keys       FORCE ROW LEVEL SECURITY;

-- +goose Down
DROP INDEX guardrail_keys_target_id_idx; -- what was released had no effect
