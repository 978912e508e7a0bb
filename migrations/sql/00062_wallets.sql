-- How each workspace pays, and what it has. The row of a workspace is made with
-- the first that is known of it; without one everything is as the deployment
-- says and the balance is zero. granted_nanos are the top-ups and adjustments,
-- paid_nanos the top-ups alone.
--
-- Entries are a chain: each has the balance after it, and no role may change one,
-- the owner neither. There are no foreign keys, as for the log of requests:
-- charges come in the transaction that brings usage in.

-- +goose Up
CREATE TABLE wallets (
    workspace_id  uuid        PRIMARY KEY,
    billing       text        CONSTRAINT wallets_billing_check CHECK (billing IN ('off', 'prepaid', 'invoice')), -- NULL here and below: as the deployment says
    floor_nanos   bigint      CONSTRAINT wallets_floor_check CHECK (floor_nanos >= 0),
    fee_rate      bigint      CONSTRAINT wallets_fee_rate_check CHECK (fee_rate BETWEEN 0 AND 1000000),
    fee_after     bigint      CONSTRAINT wallets_fee_after_check CHECK (fee_after >= 0),
    granted_nanos bigint      NOT NULL,
    charged_nanos bigint      NOT NULL,
    paid_nanos    bigint      NOT NULL CONSTRAINT wallets_paid_check CHECK (paid_nanos >= 0),
    topped_up_at  timestamptz, -- first
    entries       bigint      NOT NULL CONSTRAINT wallets_entries_check CHECK (entries >= 0),
    version       bigint      NOT NULL CONSTRAINT wallets_version_check CHECK (version >= 1), -- of how it pays
    updated_at    timestamptz NOT NULL
);

CREATE TABLE wallet_entries (
    workspace_id  uuid        NOT NULL,
    number        bigint      NOT NULL CONSTRAINT wallet_entries_number_check CHECK (number >= 1), -- without gaps
    id            uuid        NOT NULL,
    kind          text        NOT NULL,
    amount_nanos  bigint      NOT NULL, -- what the balance rises by
    balance_nanos bigint      NOT NULL, -- after it
    requests      bigint      NOT NULL, -- that a charge is for; less than 0 where it is taken back
    reference     text        NOT NULL, -- '': none
    note          text        NOT NULL,
    actor_kind    text        NOT NULL CONSTRAINT wallet_entries_actor_kind_check CHECK (actor_kind IN ('operator', 'system')),
    actor_name    text        NOT NULL,
    request_id    text        NOT NULL,
    created_at    timestamptz NOT NULL,
    CONSTRAINT wallet_entries_pkey PRIMARY KEY (workspace_id, number),
    CONSTRAINT wallet_entries_id_key UNIQUE (workspace_id, id),
    CONSTRAINT wallet_entries_kind_check CHECK (CASE kind
        WHEN 'top_up'     THEN amount_nanos > 0 AND requests = 0
        WHEN 'adjustment' THEN amount_nanos <> 0 AND requests = 0 AND note <> ''
        WHEN 'charge'     THEN reference = ''
        ELSE false END)
);
CREATE UNIQUE INDEX wallet_entries_reference_key ON wallet_entries (workspace_id, reference) WHERE reference <> '';

-- +goose StatementBegin
CREATE FUNCTION wallet_entries_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an entry of a wallet never changes' USING ERRCODE = 'integrity_constraint_violation';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER wallet_entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON wallet_entries
    FOR EACH STATEMENT EXECUTE FUNCTION wallet_entries_stay();

ALTER TABLE wallets        ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE wallet_entries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON wallets TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY tenant ON wallet_entries TO signalbox_app
    USING (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid)
    WITH CHECK (workspace_id = NULLIF(current_setting('app.workspace', true), '')::uuid);
CREATE POLICY system ON wallets        TO signalbox_system USING (true) WITH CHECK (true);
CREATE POLICY system ON wallet_entries TO signalbox_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON wallets TO signalbox_app;
GRANT SELECT, INSERT, UPDATE (charged_nanos, entries) ON wallets TO signalbox_system;
GRANT SELECT, INSERT ON wallet_entries TO signalbox_app, signalbox_system;

-- +goose Down
DROP TABLE wallet_entries;
DROP TABLE wallets;
DROP FUNCTION wallet_entries_stay();
