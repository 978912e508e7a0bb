-- Budgets: what may be spent in a window, by the whole workspace or by what
-- counts toward one department, guardrail or agent. What was spent is not here.

-- +goose Up
CREATE TABLE budgets (
    id            uuid        PRIMARY KEY,
    workspace_id  uuid        NOT NULL REFERENCES workspaces (id),
    department_id uuid,
    guardrail_id  uuid,
    agent         text        NOT NULL CONSTRAINT budgets_agent_check CHECK (octet_length(agent) <= 128), -- '' for none
    "interval"    text        NOT NULL CONSTRAINT budgets_interval_check CHECK ("interval" IN ('daily', 'weekly', 'monthly', 'lifetime')),
    limit_nanos   bigint      NOT NULL CONSTRAINT budgets_limit_nanos_check CHECK (limit_nanos > 0),
    reserve       boolean     NOT NULL,
    include_byok  boolean     NOT NULL,
    created_by    uuid        REFERENCES users (id),
    version       bigint      NOT NULL CONSTRAINT budgets_version_check CHECK (version >= 1),
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    CONSTRAINT budgets_department_id_fkey FOREIGN KEY (workspace_id, department_id) REFERENCES departments (workspace_id, id),
    CONSTRAINT budgets_guardrail_id_fkey FOREIGN KEY (workspace_id, guardrail_id) REFERENCES guardrails (workspace_id, id),
    CONSTRAINT budgets_target_check CHECK (num_nonnulls(department_id, guardrail_id, NULLIF(agent, '')) <= 1),
    -- Those of departments are looked at, and never reserve.
    CONSTRAINT budgets_department_check CHECK (department_id IS NULL OR (NOT reserve AND "interval" <> 'lifetime')),
    CONSTRAINT budgets_target_key UNIQUE NULLS NOT DISTINCT (workspace_id, department_id, guardrail_id, agent, "interval")
);
CREATE INDEX budgets_workspace_id_idx ON budgets (workspace_id, id);
CREATE INDEX budgets_guardrail_id_idx ON budgets (workspace_id, guardrail_id) WHERE guardrail_id IS NOT NULL;

ALTER TABLE budgets ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON budgets TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON budgets TO signalbox_app;

-- +goose Down
DROP TABLE budgets;
