-- What each account of a workspace took: a UTC day at a time, and of all time for
-- the accounts that have such a total. They change in the transaction that brings
-- rows into the request log or replaces them there, and the gateways' counters are
-- filled from them when NATS has lost those. An account is a key, a department, a
-- guardrail, an agent, a user's free models, or one of 'all', 'byok', 'charged'.
--
-- The log says what each row counts toward, since a row that is replaced is taken
-- back from the same accounts.
--
-- What was used before comes from the hourly totals: that of keys and of whole
-- workspaces. They do not say whose credentials were used: all of it counts as the
-- platform's. The owner of the tables reads and writes all workspaces for it, and
-- is held to the policies again at the end.

-- +goose Up
ALTER TABLE request_log
    ADD COLUMN charge_nanos bigint NOT NULL DEFAULT 0, -- what the wallet pays
    ADD COLUMN attribution  json; -- departments, guardrails, agent and free; null: nothing

CREATE TABLE spend_days (
    workspace_id uuid   NOT NULL,
    account      text   NOT NULL,
    day          date   NOT NULL, -- UTC
    requests     bigint NOT NULL,
    cost_nanos   bigint NOT NULL, -- all of it
    byok_nanos   bigint NOT NULL, -- the part that the workspace's own credentials were charged for
    CONSTRAINT spend_days_pkey PRIMARY KEY (workspace_id, account, day)
);
CREATE INDEX spend_days_day_idx ON spend_days (day);

CREATE TABLE spend_totals (
    workspace_id uuid   NOT NULL,
    account      text   NOT NULL,
    requests     bigint NOT NULL,
    cost_nanos   bigint NOT NULL,
    byok_nanos   bigint NOT NULL,
    CONSTRAINT spend_totals_pkey PRIMARY KEY (workspace_id, account)
);

ALTER TABLE usage_hourly NO FORCE ROW LEVEL SECURITY;

-- A key's id as it is written: 26 digits of Crockford's base32, the first of three bits.
-- +goose StatementBegin
CREATE FUNCTION pg_temp.key_account(id uuid) RETURNS text LANGUAGE sql AS $$
    SELECT 'key_' || string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', substring(b.bits FROM n * 5 + 1 FOR 5)::bit(5)::integer + 1, 1), '' ORDER BY n)
    FROM (SELECT B'00' || ('x' || replace(id::text, '-', ''))::bit(128) AS bits) b, generate_series(0, 25) AS n
$$;
-- +goose StatementEnd

INSERT INTO spend_days (workspace_id, account, day, requests, cost_nanos, byok_nanos)
SELECT workspace_id, pg_temp.key_account(key_id), day, requests, cost_nanos, 0
FROM (SELECT workspace_id, key_id, (hour AT TIME ZONE 'UTC')::date AS day, sum(requests) AS requests, sum(cost_nanos) AS cost_nanos
      FROM usage_hourly
      WHERE outcome <> 'refused' AND key_id <> '00000000-0000-0000-0000-000000000000' AND hour >= now() - interval '400 days'
      GROUP BY 1, 2, 3) k
WHERE requests > 0 OR cost_nanos > 0;

INSERT INTO spend_days (workspace_id, account, day, requests, cost_nanos, byok_nanos)
SELECT workspace_id, 'all', (hour AT TIME ZONE 'UTC')::date, sum(requests), sum(cost_nanos), 0
FROM usage_hourly
WHERE outcome <> 'refused' AND hour >= now() - interval '400 days'
GROUP BY 1, 3
HAVING sum(requests) > 0 OR sum(cost_nanos) > 0;

INSERT INTO spend_totals (workspace_id, account, requests, cost_nanos, byok_nanos)
SELECT workspace_id, 'all', sum(requests), sum(cost_nanos), 0
FROM usage_hourly
WHERE outcome <> 'refused'
GROUP BY 1
HAVING sum(requests) > 0 OR sum(cost_nanos) > 0;

DROP FUNCTION pg_temp.key_account(uuid);

ALTER TABLE usage_hourly FORCE ROW LEVEL SECURITY;
ALTER TABLE spend_days   ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE spend_totals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_read ON spend_days FOR SELECT TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant_read ON spend_totals FOR SELECT TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system ON spend_days   TO signalbox_system USING (true) WITH CHECK (true);
CREATE POLICY system ON spend_totals TO signalbox_system USING (true) WITH CHECK (true);
GRANT SELECT ON spend_days, spend_totals TO signalbox_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON spend_days TO signalbox_system;
GRANT SELECT, INSERT, UPDATE ON spend_totals TO signalbox_system;

-- +goose Down
DROP TABLE spend_totals;
DROP TABLE spend_days;
ALTER TABLE request_log DROP COLUMN attribution, DROP COLUMN charge_nanos;
