package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Read implements Store. Any server of the stream may answer, one that is
// behind too: the state says how far it is.
func (s *NATS) Read(ctx context.Context, epoch string, totals []totalRef) (map[totalRef]wire.Spend, uint64, error) {
	mark := wire.SpendEpoch(epoch)
	subjects := append(make([]string, 0, len(totals)+1), mark)
	refs := make(map[string]totalRef, len(totals))
	for _, ref := range totals {
		subject := subjectOf(epoch, ref)
		subjects, refs[subject] = append(subjects, subject), ref
	}
	got := make(map[totalRef]wire.Spend, len(totals))
	marked := false
	state, err := s.last(ctx, subjects, func(subject string, body []byte) error {
		if subject == mark {
			marked = true
			return nil
		}
		ref, ok := refs[subject]
		if !ok {
			return nil
		}
		var err error
		got[ref], err = wire.ParseSpend(body)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read usage: %w", err)
	}
	if !marked {
		return nil, 0, ErrUnfilled
	}
	return got, state, nil
}

// last visits the last message of each subject that has one, as of one state of
// the server that answers, and returns that: nothing comes between the messages.
func (s *NATS) last(ctx context.Context, subjects []string, visit func(subject string, body []byte) error) (state uint64, err error) {
	if err := s.conn.Ready(); err != nil {
		return 0, err
	}
	body, err := json.Marshal(map[string]any{"multi_last": subjects})
	if err != nil {
		return 0, err
	}
	nc := s.conn.NATS()
	answers, err := nc.SubscribeSync(nc.NewInbox())
	if err != nil {
		return 0, err
	}
	defer func() { _ = answers.Unsubscribe() }() // fails only where it has ended already
	if err := nc.PublishRequest("$JS.API.DIRECT.GET."+wire.StreamSpend, answers.Subject, body); err != nil {
		return 0, err
	}
	for before := "0"; ; {
		msg, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			return 0, err
		}
		if msg.Header.Get("Status") == "404" && before == "0" {
			return 0, nil // nothing at all
		}
		// Each message names the one before.
		if msg.Header.Get(jetstream.LastSequenceHeader) != before {
			return 0, errIncomplete(msg)
		}
		switch status := msg.Header.Get("Status"); status {
		case "":
		case "204": // the end
			return strconv.ParseUint(msg.Header.Get("Nats-UpTo-Sequence"), 10, 64)
		default:
			return 0, errIncomplete(msg)
		}
		before = msg.Header.Get(jetstream.SequenceHeader)
		if err := visit(msg.Header.Get(jetstream.SubjectHeader), msg.Data); err != nil {
			return 0, err
		}
	}
}

func errIncomplete(msg *nats.Msg) error {
	if status := msg.Header.Get("Status"); status != "" && status != "204" {
		return errors.New("the server refused with status " + status)
	}
	return errors.New("a message of the answer is missing")
}
