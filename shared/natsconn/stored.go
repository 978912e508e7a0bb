package natsconn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Stored is a message that a stream has.
type Stored struct {
	Subject  string    `json:"subject"`
	Sequence uint64    `json:"seq"`
	Data     []byte    `json:"data"`
	Time     time.Time `json:"time"` // when it was stored, by the clock of its leader then
}

// Last returns the last message of a subject, as the stream's leader has it; nil
// when there is none.
func (c *Conn) Last(ctx context.Context, stream, subject string) (*Stored, error) {
	return c.stored(ctx, stream, map[string]any{"last_by_subj": subject})
}

// First returns the oldest message of the subjects that a filter matches, as the
// stream's leader has it; nil when there is none.
func (c *Conn) First(ctx context.Context, stream, filter string) (*Stored, error) {
	return c.stored(ctx, stream, map[string]any{"seq": 1, "next_by_subj": filter})
}

func (c *Conn) stored(ctx context.Context, stream string, query map[string]any) (*Stored, error) {
	if err := c.Ready(); err != nil {
		return nil, err
	}
	body, err := json.Marshal(query)
	if err != nil {
		return nil, err
	}
	reply, err := c.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+stream, body)
	if err != nil {
		return nil, err
	}
	var got struct {
		Error   *jetstream.APIError `json:"error"`
		Message *Stored             `json:"message"`
	}
	if err := json.Unmarshal(reply.Data, &got); err != nil {
		return nil, fmt.Errorf("decode a stored message: %w", err)
	}
	switch {
	case got.Error != nil && got.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return nil, nil
	case got.Error != nil:
		return nil, got.Error
	case got.Message == nil:
		return nil, errors.New("the answer has no message")
	}
	return got.Message, nil
}

// LastOfEach visits the last message of each subject that has one, as of one
// state of the server that answers, and returns that: the sequence that it has
// come to, 0 when it has nothing. Any server of the stream may answer, one that
// is behind too. It fails when an answer is missing.
func (c *Conn) LastOfEach(ctx context.Context, stream string, subjects []string, visit func(subject string, body []byte) error) (state uint64, err error) {
	if err := c.Ready(); err != nil {
		return 0, err
	}
	body, err := json.Marshal(map[string]any{"multi_last": subjects})
	if err != nil {
		return 0, err
	}
	answers, err := c.nc.SubscribeSync(c.nc.NewInbox())
	if err != nil {
		return 0, err
	}
	defer func() { _ = answers.Unsubscribe() }() // fails only where it has ended already
	if err := c.nc.PublishRequest("$JS.API.DIRECT.GET."+stream, answers.Subject, body); err != nil {
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
		switch msg.Header.Get("Status") {
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
