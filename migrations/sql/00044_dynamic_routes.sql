-- Dynamic routes, their versions, and the log of their deployments. A version
-- never changes after it was saved, except for its status, and the log only
-- grows: the triggers hold that for every role, the owner's too. A deleted route
-- keeps its rows, so that its history stays readable.

-- +goose Up
CREATE TABLE dynamic_routes (
    id               uuid        PRIMARY KEY,
    workspace_id     uuid        NOT NULL REFERENCES workspaces (id),
    name             text        NOT NULL CONSTRAINT dynamic_routes_name_check CHECK (length(name) BETWEEN 1 AND 80),
    slug             text        NOT NULL CONSTRAINT dynamic_routes_slug_check CHECK (slug ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
    description      text        NOT NULL CONSTRAINT dynamic_routes_description_check CHECK (length(description) <= 500),
    status           text        NOT NULL CONSTRAINT dynamic_routes_status_check CHECK (status IN ('active', 'paused')),
    latest_version   integer     NOT NULL CONSTRAINT dynamic_routes_latest_version_check CHECK (latest_version >= 0),
    deployed_version integer, -- null while none is
    deployment       integer     NOT NULL CONSTRAINT dynamic_routes_deployment_check CHECK (deployment >= 0), -- the last one's number
    turn             uuid        NOT NULL, -- a UUIDv7 that every change replaces: lists run by it
    version          bigint      NOT NULL CONSTRAINT dynamic_routes_version_check CHECK (version >= 1),
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    deleted_at       timestamptz,
    CONSTRAINT dynamic_routes_workspace_id_key UNIQUE (workspace_id, id),
    CONSTRAINT dynamic_routes_deployed_check CHECK ((deployed_version IS NULL) = (deployment = 0))
);
CREATE UNIQUE INDEX dynamic_routes_name_key ON dynamic_routes (workspace_id, lower(name)) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX dynamic_routes_slug_key ON dynamic_routes (workspace_id, slug) WHERE deleted_at IS NULL;
CREATE INDEX dynamic_routes_turn_idx ON dynamic_routes (workspace_id, turn) WHERE deleted_at IS NULL;

-- graph is text and not jsonb: it is kept byte for byte, as its digest is of it.
CREATE TABLE dynamic_route_versions (
    workspace_id uuid        NOT NULL,
    route_id     uuid        NOT NULL,
    number       integer     NOT NULL CONSTRAINT dynamic_route_versions_number_check CHECK (number >= 1),
    graph        text        NOT NULL,
    slots        jsonb       NOT NULL,
    digest       text        NOT NULL,
    parent       integer     CONSTRAINT dynamic_route_versions_parent_check CHECK (parent < number),
    note         text        NOT NULL CONSTRAINT dynamic_route_versions_note_check CHECK (length(note) <= 500),
    created_by   uuid        REFERENCES users (id),
    created_at   timestamptz NOT NULL,
    status       text        NOT NULL CONSTRAINT dynamic_route_versions_status_check CHECK (status IN ('draft', 'deployed', 'superseded')),
    CONSTRAINT dynamic_route_versions_pkey PRIMARY KEY (workspace_id, route_id, number),
    CONSTRAINT dynamic_route_versions_route_id_fkey FOREIGN KEY (workspace_id, route_id) REFERENCES dynamic_routes (workspace_id, id),
    CONSTRAINT dynamic_route_versions_parent_fkey FOREIGN KEY (workspace_id, route_id, parent)
        REFERENCES dynamic_route_versions (workspace_id, route_id, number)
);
CREATE UNIQUE INDEX dynamic_route_versions_deployed_key ON dynamic_route_versions (workspace_id, route_id) WHERE status = 'deployed';
ALTER TABLE dynamic_routes ADD CONSTRAINT dynamic_routes_deployed_version_fkey FOREIGN KEY (workspace_id, id, deployed_version)
    REFERENCES dynamic_route_versions (workspace_id, route_id, number);

-- replaced is the deployment that this one took the place of, beneath the one
-- that rolling it back restores.
CREATE TABLE dynamic_route_deployments (
    workspace_id uuid        NOT NULL,
    route_id     uuid        NOT NULL,
    number       integer     NOT NULL CONSTRAINT dynamic_route_deployments_number_check CHECK (number >= 1),
    version      integer     NOT NULL,
    rollback     boolean     NOT NULL,
    replaced     integer     CONSTRAINT dynamic_route_deployments_replaced_check CHECK (replaced < number),
    beneath      integer     CONSTRAINT dynamic_route_deployments_beneath_check CHECK (beneath < number),
    rolled_back  boolean     NOT NULL,
    deployed_by  uuid        REFERENCES users (id),
    deployed_at  timestamptz NOT NULL,
    CONSTRAINT dynamic_route_deployments_pkey PRIMARY KEY (workspace_id, route_id, number),
    CONSTRAINT dynamic_route_deployments_version_fkey FOREIGN KEY (workspace_id, route_id, version)
        REFERENCES dynamic_route_versions (workspace_id, route_id, number),
    CONSTRAINT dynamic_route_deployments_replaced_fkey FOREIGN KEY (workspace_id, route_id, replaced)
        REFERENCES dynamic_route_deployments (workspace_id, route_id, number),
    CONSTRAINT dynamic_route_deployments_beneath_fkey FOREIGN KEY (workspace_id, route_id, beneath)
        REFERENCES dynamic_route_deployments (workspace_id, route_id, number)
);

-- +goose StatementBegin
CREATE FUNCTION dynamic_route_versions_stay() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    kept dynamic_route_versions;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        kept := NEW;
        kept.status := OLD.status;
        IF kept IS NOT DISTINCT FROM OLD AND NEW.status <> 'draft' THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'a version of a dynamic route never changes' USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE FUNCTION dynamic_route_deployments_stay() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    kept dynamic_route_deployments;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        kept := NEW;
        kept.rolled_back := OLD.rolled_back;
        IF kept IS NOT DISTINCT FROM OLD AND NEW.rolled_back THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'a deployment of a dynamic route never changes' USING ERRCODE = 'integrity_constraint_violation';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER dynamic_route_versions_stay BEFORE UPDATE OR DELETE ON dynamic_route_versions
    FOR EACH ROW EXECUTE FUNCTION dynamic_route_versions_stay();
CREATE TRIGGER dynamic_route_versions_keep BEFORE TRUNCATE ON dynamic_route_versions
    FOR EACH STATEMENT EXECUTE FUNCTION dynamic_route_versions_stay();
CREATE TRIGGER dynamic_route_deployments_stay BEFORE UPDATE OR DELETE ON dynamic_route_deployments
    FOR EACH ROW EXECUTE FUNCTION dynamic_route_deployments_stay();
CREATE TRIGGER dynamic_route_deployments_keep BEFORE TRUNCATE ON dynamic_route_deployments
    FOR EACH STATEMENT EXECUTE FUNCTION dynamic_route_deployments_stay();

ALTER TABLE dynamic_routes            ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE dynamic_route_versions    ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE dynamic_route_deployments ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON dynamic_routes TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant ON dynamic_route_versions TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant ON dynamic_route_deployments TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON dynamic_routes TO signalbox_app;
GRANT SELECT, INSERT, UPDATE (status) ON dynamic_route_versions TO signalbox_app;
GRANT SELECT, INSERT, UPDATE (rolled_back) ON dynamic_route_deployments TO signalbox_app;

-- +goose Down
ALTER TABLE dynamic_routes DROP CONSTRAINT dynamic_routes_deployed_version_fkey;
DROP TABLE dynamic_route_deployments;
DROP TABLE dynamic_route_versions;
DROP TABLE dynamic_routes;
DROP FUNCTION dynamic_route_deployments_stay();
DROP FUNCTION dynamic_route_versions_stay();
