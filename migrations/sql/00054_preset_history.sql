-- The history of presets is kept for every role, the owner's too: versions were
-- not from TRUNCATE, and the log of deployments not at all.

-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION preset_history_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the history of a preset never changes' USING ERRCODE = 'integrity_constraint_violation';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER preset_versions_keep BEFORE TRUNCATE ON preset_versions
    FOR EACH STATEMENT EXECUTE FUNCTION preset_history_stays();
CREATE TRIGGER preset_deployments_stay BEFORE UPDATE OR DELETE ON preset_deployments
    FOR EACH ROW EXECUTE FUNCTION preset_history_stays();
CREATE TRIGGER preset_deployments_keep BEFORE TRUNCATE ON preset_deployments
    FOR EACH STATEMENT EXECUTE FUNCTION preset_history_stays();

-- +goose Down
DROP TRIGGER preset_deployments_keep ON preset_deployments;
DROP TRIGGER preset_deployments_stay ON preset_deployments;
DROP TRIGGER preset_versions_keep ON preset_versions;
DROP FUNCTION preset_history_stays();
