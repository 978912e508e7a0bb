-- What an API key may use in the windows of now, and the agent that its requests
-- are of when they name none. A limit of 0 is none.

-- +goose Up
ALTER TABLE api_keys
    ADD COLUMN daily_requests     bigint  NOT NULL DEFAULT 0 CONSTRAINT api_keys_daily_requests_check CHECK (daily_requests >= 0),
    ADD COLUMN weekly_requests    bigint  NOT NULL DEFAULT 0 CONSTRAINT api_keys_weekly_requests_check CHECK (weekly_requests >= 0),
    ADD COLUMN monthly_requests   bigint  NOT NULL DEFAULT 0 CONSTRAINT api_keys_monthly_requests_check CHECK (monthly_requests >= 0),
    ADD COLUMN daily_cost_nanos   bigint  NOT NULL DEFAULT 0 CONSTRAINT api_keys_daily_cost_nanos_check CHECK (daily_cost_nanos >= 0),
    ADD COLUMN weekly_cost_nanos  bigint  NOT NULL DEFAULT 0 CONSTRAINT api_keys_weekly_cost_nanos_check CHECK (weekly_cost_nanos >= 0),
    ADD COLUMN monthly_cost_nanos bigint  NOT NULL DEFAULT 0 CONSTRAINT api_keys_monthly_cost_nanos_check CHECK (monthly_cost_nanos >= 0),
    ADD COLUMN limit_reserve      boolean NOT NULL DEFAULT false,
    ADD COLUMN limit_include_byok boolean NOT NULL DEFAULT false,
    ADD COLUMN soft_blocked       boolean NOT NULL DEFAULT false,
    ADD COLUMN agent              text    NOT NULL DEFAULT '' CONSTRAINT api_keys_agent_check CHECK (octet_length(agent) <= 128);

-- +goose Down
ALTER TABLE api_keys DROP COLUMN agent, DROP COLUMN soft_blocked, DROP COLUMN limit_include_byok, DROP COLUMN limit_reserve,
    DROP COLUMN monthly_cost_nanos, DROP COLUMN weekly_cost_nanos, DROP COLUMN daily_cost_nanos,
    DROP COLUMN monthly_requests, DROP COLUMN weekly_requests, DROP COLUMN daily_requests;
