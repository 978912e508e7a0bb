-- A database that was set back is behind what is published. The publisher then
-- numbers what waits anew, above that; nothing else of a row is its to change.

-- +goose Up
CREATE POLICY system_raise ON workspace_revisions FOR UPDATE TO signalbox_system USING (true) WITH CHECK (true);
GRANT UPDATE (revision) ON workspace_revisions, publications, outbox, api_keys TO signalbox_system;

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION workspace_revisions_rise() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.revision <= OLD.revision THEN
        RAISE EXCEPTION 'a workspace revision only rises' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    -- Every change raises the revision first, so this is where a change that
    -- was waiting for the deletion of its workspace ends. The publisher changes
    -- nothing, and has the deletion itself to publish.
    IF current_user <> 'signalbox_system'
        AND EXISTS (SELECT FROM workspaces w WHERE w.id = NEW.workspace_id AND w.status = 'deleted') THEN
        RAISE EXCEPTION 'the workspace is deleted' USING ERRCODE = 'SB404';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION workspace_revisions_rise() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.revision <= OLD.revision THEN
        RAISE EXCEPTION 'a workspace revision only rises' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF EXISTS (SELECT FROM workspaces w WHERE w.id = NEW.workspace_id AND w.status = 'deleted') THEN
        RAISE EXCEPTION 'the workspace is deleted' USING ERRCODE = 'SB404';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
REVOKE UPDATE (revision) ON workspace_revisions, publications, outbox, api_keys FROM signalbox_system;
DROP POLICY system_raise ON workspace_revisions;
