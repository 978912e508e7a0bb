-- Staged rollouts of dynamic routes: a candidate beside the stable version, for
-- a share of the subjects that rises step by step. The leader works as the
-- system role and reads all that are open; every change is made as the workspace.

-- +goose Up
CREATE TABLE dynamic_route_rollouts (
    id            uuid        PRIMARY KEY,
    workspace_id  uuid        NOT NULL,
    route_id      uuid        NOT NULL,
    candidate     integer     NOT NULL,
    stable        integer     NOT NULL,
    steps         jsonb       NOT NULL CONSTRAINT dynamic_route_rollouts_steps_check
                              CHECK (jsonb_typeof(steps) = 'array' AND jsonb_array_length(steps) BETWEEN 1 AND 20),
    guard         jsonb       NOT NULL,
    state         text        NOT NULL CONSTRAINT dynamic_route_rollouts_state_check
                              CHECK (state IN ('running', 'paused', 'completed', 'rolled_back', 'aborted')),
    step          integer     NOT NULL, -- from 0
    step_began_at timestamptz NOT NULL,
    evidence      jsonb       NOT NULL, -- what it ended on; the JSON null while it is open
    created_by    uuid        REFERENCES users (id),
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    ended_at      timestamptz,
    version       bigint      NOT NULL CONSTRAINT dynamic_route_rollouts_version_check CHECK (version >= 1),
    CONSTRAINT dynamic_route_rollouts_workspace_id_key UNIQUE (workspace_id, id),
    CONSTRAINT dynamic_route_rollouts_versions_check CHECK (candidate <> stable),
    CONSTRAINT dynamic_route_rollouts_step_check CHECK (step >= 0 AND step < jsonb_array_length(steps)),
    CONSTRAINT dynamic_route_rollouts_ended_check CHECK ((ended_at IS NULL) = (state IN ('running', 'paused'))),
    CONSTRAINT dynamic_route_rollouts_candidate_fkey FOREIGN KEY (workspace_id, route_id, candidate)
        REFERENCES dynamic_route_versions (workspace_id, route_id, number),
    CONSTRAINT dynamic_route_rollouts_stable_fkey FOREIGN KEY (workspace_id, route_id, stable)
        REFERENCES dynamic_route_versions (workspace_id, route_id, number)
);
CREATE UNIQUE INDEX dynamic_route_rollouts_open_key ON dynamic_route_rollouts (workspace_id, route_id) WHERE ended_at IS NULL;
CREATE INDEX dynamic_route_rollouts_route_idx ON dynamic_route_rollouts (workspace_id, route_id, id);

ALTER TABLE dynamic_route_rollouts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON dynamic_route_rollouts TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system_read ON dynamic_route_rollouts FOR SELECT TO signalbox_system USING (true);
GRANT SELECT, INSERT, UPDATE (state, step, step_began_at, evidence, updated_at, ended_at, version) ON dynamic_route_rollouts TO signalbox_app;
GRANT SELECT ON dynamic_route_rollouts TO signalbox_system;

-- +goose Down
DROP TABLE dynamic_route_rollouts;
