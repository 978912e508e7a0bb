package natsconn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
)

// ErrNobody is returned by Ask when nobody answers on the subject, which is known
// at once.
var ErrNobody = errors.New("nobody answers")

// Ask puts a question to whoever answers on a subject, one of a queue group, and
// returns what comes first on answer: a subject that nothing else is sent to, of
// a kind that whoever is asked may write to. Inboxes are not, as JetStream's
// answers come there. It fails with ErrNotConnected and ErrNobody at once, else
// when ctx ends.
func (c *Conn) Ask(ctx context.Context, subject, answer string, body []byte) ([]byte, error) {
	if err := c.Ready(); err != nil {
		return nil, err
	}
	sub, err := c.nc.SubscribeSync(answer)
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", answer, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only where it has ended already
	if err := c.nc.PublishRequest(subject, answer, body); err != nil {
		return nil, fmt.Errorf("ask %s: %w", subject, err)
	}
	m, err := sub.NextMsgWithContext(ctx)
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, fmt.Errorf("ask %s: %w: %w", subject, ErrNobody, err)
	}
	if err != nil {
		return nil, fmt.Errorf("wait for an answer of %s: %w", subject, err)
	}
	return m.Data, nil
}

// Question is one that was asked with Ask.
type Question struct {
	Body []byte
	to   string
	nc   *nats.Conn
}

// Answer answers it. Who asked takes the first answer.
func (q Question) Answer(body []byte) error {
	if err := q.nc.Publish(q.to, body); err != nil {
		return fmt.Errorf("answer on %s: %w", q.to, err)
	}
	return nil
}

// Answer calls handle for each question on a subject, one after the other, as one
// of a queue group. One that is not to be answered below answers is dropped:
// nothing is sent elsewhere for whoever asks. stop takes no more questions, has
// handle called for those that came already, and returns when it has ended for
// good; handle must not call it.
func (c *Conn) Answer(subject, queue, answers string, room Room, handle func(Question)) (stop func(), err error) {
	l, err := c.listen(subject, queue, room, func(m *nats.Msg) {
		if strings.HasPrefix(m.Reply, answers+".") {
			handle(Question{Body: m.Data, to: m.Reply, nc: c.nc})
		}
	})
	if err != nil {
		return nil, err
	}
	return func() {
		l.drain(c.Connected())
		l.stop()
	}, nil
}
