-- Partitions are made and dropped by the schema's owner on behalf of the
-- system role, which may do nothing else to the schema. Both functions give up
-- soon when they cannot get their locks, as they would hold up the writers
-- behind them.

-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION request_log_ensure_day(day date) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    part text        := 'request_log_' || to_char(day, 'YYYYMMDD');
    low  timestamptz := day::timestamp AT TIME ZONE 'UTC';
    high timestamptz := (day + 1)::timestamp AT TIME ZONE 'UTC';
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('signalbox request_log partitions'));
    IF to_regclass(part) IS NOT NULL THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE request_log INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', part);
    -- What came before its day was made waits in the default partition.
    LOCK TABLE request_log_default IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('WITH moved AS (DELETE FROM request_log_default WHERE started_at >= $1 AND started_at < $2 RETURNING *)
                    INSERT INTO %I SELECT * FROM moved', part) USING low, high;
    EXECUTE format('ALTER TABLE request_log ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part, low, high);
    RETURN true;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION request_log_drop_days(before date) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    part    text;
    dropped integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('signalbox request_log partitions'));
    FOR part IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'request_log'::regclass AND c.relname ~ '^request_log_[0-9]{8}$'
          AND to_date(right(c.relname, 8), 'YYYYMMDD') < before
        ORDER BY c.relname LIMIT 10
    LOOP
        EXECUTE format('DROP TABLE %I', part);
        dropped := dropped + 1;
    END LOOP;
    RETURN dropped;
END
$$;
-- +goose StatementEnd

REVOKE ALL ON FUNCTION request_log_ensure_day(date), request_log_drop_days(date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION request_log_ensure_day(date), request_log_drop_days(date) TO signalbox_system;

-- +goose Down
DROP FUNCTION request_log_drop_days(date);
DROP FUNCTION request_log_ensure_day(date);
