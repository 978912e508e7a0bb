-- Rate-limit policies, and what each is assigned to. An assignment names one
-- thing of its own workspace, in the column of its kind, which the two-column keys
-- hold whatever a store does. Nothing that is assigned to goes away by itself: what
-- is deleted is taken out of it first, since requests would else be less limited
-- than someone thinks.

-- +goose Up
CREATE TABLE rate_limit_policies (
    id                  uuid        PRIMARY KEY,
    workspace_id        uuid        NOT NULL REFERENCES workspaces (id),
    name                text        NOT NULL CONSTRAINT rate_limit_policies_name_check CHECK (length(name) BETWEEN 1 AND 100),
    requests_per_minute bigint      CONSTRAINT rate_limit_policies_requests_check CHECK (requests_per_minute BETWEEN 1 AND 10000000),
    tokens_per_minute   bigint      CONSTRAINT rate_limit_policies_tokens_check CHECK (tokens_per_minute BETWEEN 1 AND 100000000000),
    concurrent_requests bigint      CONSTRAINT rate_limit_policies_concurrent_check CHECK (concurrent_requests BETWEEN 1 AND 1000000),
    fail_closed         boolean     NOT NULL,
    on_unavailable      text        NOT NULL CONSTRAINT rate_limit_policies_on_unavailable_check CHECK (on_unavailable IN ('allow', 'deny', 'local_share')),
    version             bigint      NOT NULL CONSTRAINT rate_limit_policies_version_check CHECK (version >= 1),
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    CONSTRAINT rate_limit_policies_workspace_id_key UNIQUE (workspace_id, id),
    CONSTRAINT rate_limit_policies_limits_check CHECK (num_nonnulls(requests_per_minute, tokens_per_minute, concurrent_requests) > 0),
    CONSTRAINT rate_limit_policies_fail_closed_check CHECK (NOT (fail_closed AND on_unavailable = 'allow'))
);
CREATE UNIQUE INDEX rate_limit_policies_name_key ON rate_limit_policies (workspace_id, lower(name));

CREATE TABLE rate_limit_assignments (
    id            uuid        PRIMARY KEY,
    workspace_id  uuid        NOT NULL REFERENCES workspaces (id),
    policy_id     uuid        NOT NULL,
    target_type   text        NOT NULL,
    key_id        uuid,
    user_id       uuid,
    department_id uuid,
    guardrail_id  uuid,
    created_at    timestamptz NOT NULL,
    CONSTRAINT rate_limit_assignments_policy_id_fkey FOREIGN KEY (workspace_id, policy_id) REFERENCES rate_limit_policies (workspace_id, id),
    CONSTRAINT rate_limit_assignments_key_id_fkey FOREIGN KEY (workspace_id, key_id) REFERENCES api_keys (workspace_id, id),
    CONSTRAINT rate_limit_assignments_user_id_fkey FOREIGN KEY (workspace_id, user_id) REFERENCES members (workspace_id, user_id),
    CONSTRAINT rate_limit_assignments_department_id_fkey FOREIGN KEY (workspace_id, department_id) REFERENCES departments (workspace_id, id),
    CONSTRAINT rate_limit_assignments_guardrail_id_fkey FOREIGN KEY (workspace_id, guardrail_id) REFERENCES guardrails (workspace_id, id),
    CONSTRAINT rate_limit_assignments_target_check CHECK (CASE target_type
        WHEN 'key'              THEN key_id IS NOT NULL        AND num_nonnulls(user_id, department_id, guardrail_id) = 0
        WHEN 'member'           THEN user_id IS NOT NULL       AND num_nonnulls(key_id, department_id, guardrail_id) = 0
        WHEN 'department'       THEN department_id IS NOT NULL AND num_nonnulls(key_id, user_id, guardrail_id) = 0
        WHEN 'guardrail'        THEN guardrail_id IS NOT NULL  AND num_nonnulls(key_id, user_id, department_id) = 0
        WHEN 'end_user_default' THEN num_nonnulls(key_id, user_id, department_id, guardrail_id) = 0
        ELSE false END),
    CONSTRAINT rate_limit_assignments_target_key UNIQUE NULLS NOT DISTINCT (workspace_id, policy_id, key_id, user_id, department_id, guardrail_id)
);
CREATE INDEX rate_limit_assignments_key_id_idx ON rate_limit_assignments (workspace_id, key_id) WHERE key_id IS NOT NULL;
CREATE INDEX rate_limit_assignments_user_id_idx ON rate_limit_assignments (workspace_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX rate_limit_assignments_department_id_idx ON rate_limit_assignments (workspace_id, department_id) WHERE department_id IS NOT NULL;
CREATE INDEX rate_limit_assignments_guardrail_id_idx ON rate_limit_assignments (workspace_id, guardrail_id) WHERE guardrail_id IS NOT NULL;

ALTER TABLE rate_limit_policies    ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE rate_limit_assignments ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON rate_limit_policies TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant ON rate_limit_assignments TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON rate_limit_policies TO signalbox_app;
GRANT SELECT, INSERT, DELETE ON rate_limit_assignments TO signalbox_app;

-- +goose Down
DROP TABLE rate_limit_assignments;
DROP TABLE rate_limit_policies;
