package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// UsageMark implements usage.Writer.
func (s *UsageStore) UsageMark(ctx context.Context, gw id.Gateway) (uint64, error) {
	var committed uint64
	err := s.system.Read(ctx, func(ctx context.Context) error {
		err := system(ctx).Table("usage_marks").Select("committed").Where("gateway_id = ?", gw.UUID()).Take(&committed).Error
		return translate(err, "read a usage mark")
	})
	if fault.Is(err, fault.NotFound) {
		return 0, nil
	}
	return committed, err
}

// advanceMarks adds arrivals, which are sorted by gateway, and returns the
// marks as they were.
func (s *UsageStore) advanceMarks(ctx context.Context, conn gorm.ConnPool, arrivals []usage.Arrival) (map[id.Gateway]usage.Mark, error) {
	runs := make(map[id.Gateway][]usage.Run)
	var gateways []uuid.UUID
	for _, a := range arrivals {
		if runs[a.Gateway] == nil {
			gateways = append(gateways, a.Gateway.UUID())
		}
		runs[a.Gateway] = append(runs[a.Gateway], a.Run)
	}
	if len(gateways) == 0 {
		return nil, nil
	}
	before, err := lockMarks(ctx, conn, gateways, s.now())
	if err != nil {
		return nil, err
	}
	committed, ahead := make([]int64, len(gateways)), make([]string, len(gateways))
	for i, u := range gateways {
		gw := id.FromUUID[id.GatewayKind](u)
		mark := before[gw].Add(runs[gw]...)
		committed[i] = int64(mark.Committed)
		if ahead[i], err = encodeRuns(mark.Ahead); err != nil {
			return nil, err
		}
	}
	_, err = conn.ExecContext(ctx,
		`UPDATE usage_marks m SET committed = k.committed, ahead = k.ahead::jsonb, updated_at = $4
		 FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS k (gateway_id, committed, ahead) WHERE m.gateway_id = k.gateway_id`,
		gateways, committed, ahead, s.now())
	return before, err
}

// lockMarks reads the gateways' marks, making those that are missing, and keeps
// others from changing them until the transaction ends.
func lockMarks(ctx context.Context, conn gorm.ConnPool, gateways []uuid.UUID, now time.Time) (map[id.Gateway]usage.Mark, error) {
	_, err := conn.ExecContext(ctx,
		`INSERT INTO usage_marks (gateway_id, committed, ahead, updated_at)
		 SELECT g, 0, '[]', $2 FROM unnest($1::uuid[]) AS g ON CONFLICT DO NOTHING`, gateways, now)
	if err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx,
		`SELECT gateway_id, committed, ahead::text FROM usage_marks WHERE gateway_id = ANY ($1::uuid[]) ORDER BY gateway_id FOR UPDATE`, gateways)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	marks := make(map[id.Gateway]usage.Mark, len(gateways))
	for rows.Next() {
		var u uuid.UUID
		var m usage.Mark
		var ahead string
		if err := rows.Scan(&u, &m.Committed, &ahead); err != nil {
			return nil, err
		}
		if m.Ahead, err = decodeRuns(ahead); err != nil {
			return nil, err
		}
		marks[id.FromUUID[id.GatewayKind](u)] = m
	}
	return marks, rows.Err()
}

func encodeRuns(runs []usage.Run) (string, error) {
	pairs := make([][2]uint64, len(runs))
	for i, r := range runs {
		pairs[i] = [2]uint64{r.First, r.Last}
	}
	text, err := json.Marshal(pairs)
	if err != nil {
		return "", fmt.Errorf("encode runs: %w", err)
	}
	return string(text), nil
}

func decodeRuns(text string) ([]usage.Run, error) {
	var pairs [][2]uint64
	if err := json.Unmarshal([]byte(text), &pairs); err != nil {
		return nil, fmt.Errorf("decode runs: %w", err)
	}
	var runs []usage.Run
	for _, p := range pairs {
		runs = append(runs, usage.Run{First: p[0], Last: p[1]})
	}
	return runs, nil
}

// keepDead stores dead letters that are new, and returns how many. A gateway's
// report of lost records is dropped when they had arrived before.
func (s *UsageStore) keepDead(
	ctx context.Context, conn gorm.ConnPool, list []usage.DeadLetter, before map[id.Gateway]usage.Mark,
) (int, error) {
	kept := 0
	for _, d := range list {
		if d.Lost && before[d.Gateway].Covers(d.Run) {
			continue
		}
		body := d.Body
		if body == nil {
			body = []byte{}
		}
		done, err := conn.ExecContext(ctx,
			`INSERT INTO usage_dead_letters
			   (fingerprint, gateway_id, sequence_first, sequence_last, subject, reason, body, received_at)
			 VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
			d.Fingerprint[:], d.Gateway.UUID(), int64(d.Run.First), int64(d.Run.Last), d.Subject, d.Reason, body, s.now())
		if err != nil {
			return kept, err
		}
		n, err := done.RowsAffected()
		if err != nil {
			return kept, err
		}
		kept += int(n)
	}
	return kept, nil
}
