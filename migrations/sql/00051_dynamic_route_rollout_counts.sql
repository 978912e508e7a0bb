-- What the requests of a rollout's two arms came to, counted in the transaction
-- that brings them into the request log: judging a rollout reads a few hundred
-- rows at most, however much traffic there was. A cell is a step, an arm and
-- how the request ended: bucket 0 holds those that failed, the others those that
-- succeeded by how long they took.

-- +goose Up
CREATE TABLE dynamic_route_rollout_counts (
    workspace_id uuid     NOT NULL,
    rollout_id   uuid     NOT NULL,
    step         integer  NOT NULL,
    candidate    boolean  NOT NULL,
    bucket       smallint NOT NULL CONSTRAINT dynamic_route_rollout_counts_bucket_check CHECK (bucket >= 0),
    requests     bigint   NOT NULL,
    cost_nanos   bigint   NOT NULL,
    CONSTRAINT dynamic_route_rollout_counts_pkey PRIMARY KEY (workspace_id, rollout_id, step, candidate, bucket),
    CONSTRAINT dynamic_route_rollout_counts_rollout_id_fkey FOREIGN KEY (workspace_id, rollout_id)
        REFERENCES dynamic_route_rollouts (workspace_id, id)
);

ALTER TABLE dynamic_route_rollout_counts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_read ON dynamic_route_rollout_counts FOR SELECT TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system ON dynamic_route_rollout_counts TO signalbox_system USING (true) WITH CHECK (true);
GRANT SELECT ON dynamic_route_rollout_counts TO signalbox_app;
GRANT SELECT, INSERT, UPDATE ON dynamic_route_rollout_counts TO signalbox_system;

-- +goose Down
DROP TABLE dynamic_route_rollout_counts;
