-- Presets: a draft that is edited, versions that never change, and which
-- version was deployed when. Configurations are json and not jsonb, which would
-- rewrite the numbers of parameters and refuse some. A slug stays its preset's
-- for ever: callers have it in their code.

-- +goose Up
CREATE TABLE presets (
    id               uuid        PRIMARY KEY,
    workspace_id     uuid        NOT NULL REFERENCES workspaces (id),
    slug             text        NOT NULL CONSTRAINT presets_slug_check CHECK (slug ~ '^[a-z0-9][a-z0-9._:-]{0,79}$'),
    name             text        NOT NULL CONSTRAINT presets_name_check CHECK (length(name) BETWEEN 1 AND 100),
    description      text        NOT NULL CONSTRAINT presets_description_check CHECK (length(description) <= 500),
    visibility       text        NOT NULL CONSTRAINT presets_visibility_check CHECK (visibility IN ('private', 'team', 'public')),
    versioning       text        NOT NULL CONSTRAINT presets_versioning_check CHECK (versioning IN ('sequential', 'semver', 'date')),
    draft            json        NOT NULL CONSTRAINT presets_draft_check CHECK (json_typeof(draft) = 'object'),
    draft_digest     text        NOT NULL,
    created_by       uuid        NOT NULL REFERENCES users (id),
    latest_version   integer     NOT NULL CONSTRAINT presets_latest_version_check CHECK (latest_version >= 0),
    latest_digest    text        NOT NULL, -- of latest_version
    deployed_version integer     NOT NULL CONSTRAINT presets_deployed_version_check CHECK (deployed_version BETWEEN 0 AND latest_version),
    -- The version that it is a fork of, and what that is a fork of, nearest first.
    upstream_preset  uuid,
    upstream_version integer,
    ancestry         json        NOT NULL CONSTRAINT presets_ancestry_check CHECK (json_typeof(ancestry) = 'array'),
    -- Where it is published to all workspaces, and the revision that last changed
    -- that; '' and 0 where it never was public.
    public_handle    text        NOT NULL,
    public_revision  bigint      NOT NULL CONSTRAINT presets_public_revision_check CHECK ((public_handle = '') = (public_revision = 0)),
    archived_at      timestamptz,
    version          bigint      NOT NULL CONSTRAINT presets_version_check CHECK (version >= 1),
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    CONSTRAINT presets_workspace_id_key UNIQUE (workspace_id, id),
    CONSTRAINT presets_slug_key UNIQUE (workspace_id, slug),
    CONSTRAINT presets_upstream_check CHECK ((upstream_preset IS NULL) = (upstream_version IS NULL))
);

CREATE TABLE preset_versions (
    workspace_id uuid        NOT NULL REFERENCES workspaces (id),
    preset_id    uuid        NOT NULL,
    number       integer     NOT NULL CONSTRAINT preset_versions_number_check CHECK (number >= 1),
    label        text        NOT NULL CONSTRAINT preset_versions_label_check CHECK (length(label) BETWEEN 1 AND 100),
    notes        text        NOT NULL CONSTRAINT preset_versions_notes_check CHECK (length(notes) <= 1000),
    config       json        NOT NULL CONSTRAINT preset_versions_config_check CHECK (json_typeof(config) = 'object'),
    digest       text        NOT NULL,
    published_by uuid        NOT NULL REFERENCES users (id),
    published_at timestamptz NOT NULL,
    revision     bigint      NOT NULL CONSTRAINT preset_versions_revision_check CHECK (revision >= 1),
    status       text        NOT NULL CONSTRAINT preset_versions_status_check CHECK (status IN ('published', 'deployed', 'superseded')),
    public_at    timestamptz, -- since when other workspaces may have it
    CONSTRAINT preset_versions_pkey PRIMARY KEY (preset_id, number),
    CONSTRAINT preset_versions_label_key UNIQUE (preset_id, label),
    CONSTRAINT preset_versions_preset_id_fkey FOREIGN KEY (workspace_id, preset_id) REFERENCES presets (workspace_id, id)
);
CREATE INDEX preset_versions_workspace_id_idx ON preset_versions (workspace_id, revision);
-- The reconciler reads versions and public presets by range.
CREATE INDEX preset_versions_part_idx ON preset_versions (right(preset_id::text, 2));
CREATE INDEX presets_part_idx ON presets (right(id::text, 2)) WHERE public_handle <> '';

ALTER TABLE presets ADD CONSTRAINT presets_upstream_fkey
    FOREIGN KEY (upstream_preset, upstream_version) REFERENCES preset_versions (preset_id, number);

-- +goose StatementBegin
CREATE FUNCTION preset_versions_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        RAISE EXCEPTION 'a version of a preset stays' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    IF (NEW.workspace_id, NEW.preset_id, NEW.number, NEW.label, NEW.notes, NEW.config::text, NEW.digest, NEW.published_by, NEW.published_at, NEW.revision)
        IS DISTINCT FROM (OLD.workspace_id, OLD.preset_id, OLD.number, OLD.label, OLD.notes, OLD.config::text, OLD.digest, OLD.published_by, OLD.published_at, OLD.revision)
        OR OLD.public_at IS NOT NULL AND NEW.public_at IS DISTINCT FROM OLD.public_at THEN
        RAISE EXCEPTION 'of a version of a preset only the status changes' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE FUNCTION presets_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.workspace_id <> OLD.workspace_id OR NEW.slug <> OLD.slug OR NEW.created_by <> OLD.created_by
        OR OLD.public_handle <> '' AND NEW.public_handle <> OLD.public_handle THEN
        RAISE EXCEPTION 'a preset keeps its workspace, slug, creator and public name' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER preset_versions_stay BEFORE UPDATE OR DELETE ON preset_versions
    FOR EACH ROW EXECUTE FUNCTION preset_versions_stay();
CREATE TRIGGER presets_keep BEFORE UPDATE ON presets
    FOR EACH ROW EXECUTE FUNCTION presets_keep();

ALTER TABLE presets         ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE preset_versions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON presets TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant ON preset_versions TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system_read  ON presets         FOR SELECT TO signalbox_system USING (true);
CREATE POLICY system_read  ON preset_versions FOR SELECT TO signalbox_system USING (true);
CREATE POLICY system_raise ON presets         FOR UPDATE TO signalbox_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON presets TO signalbox_app;
GRANT SELECT, INSERT, UPDATE (status, public_at) ON preset_versions TO signalbox_app;
GRANT SELECT ON presets, preset_versions TO signalbox_system;
GRANT UPDATE (public_revision) ON presets TO signalbox_system;

-- +goose Down
ALTER TABLE presets DROP CONSTRAINT presets_upstream_fkey;
DROP TABLE preset_versions;
DROP TABLE presets;
DROP FUNCTION preset_versions_stay();
DROP FUNCTION presets_keep();
