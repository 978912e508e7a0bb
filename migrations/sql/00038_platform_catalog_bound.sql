-- The history of the operator's catalog is bounded, and a provider's sealed key
-- is with the present version alone: of an earlier one only stays that there
-- was a key, as a null.

-- +goose Up
GRANT DELETE ON platform_catalogs TO signalbox_system;
GRANT UPDATE (keys) ON platform_catalogs TO signalbox_system;

-- The owner reaches the rows only while the security is not forced on it.
ALTER TABLE platform_catalogs NO FORCE ROW LEVEL SECURITY;
UPDATE platform_catalogs
   SET keys = (SELECT coalesce(jsonb_object_agg(slug, NULL), '{}') FROM jsonb_object_keys(keys) slug)
 WHERE version < (SELECT max(version) FROM platform_catalogs) AND keys <> '{}';
ALTER TABLE platform_catalogs FORCE ROW LEVEL SECURITY;

-- +goose Down
REVOKE UPDATE (keys) ON platform_catalogs FROM signalbox_system;
REVOKE DELETE ON platform_catalogs FROM signalbox_system;
