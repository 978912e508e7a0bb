package usage

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// answerWithin bounds one look-up of a mark; the gateway asks again.
const answerWithin = time.Second

// answerMarks answers gateways that ask how far their usage is stored, one
// control plane for each question, until the returned function is called.
func (c *Consumer) answerMarks(ctx context.Context) (stop func(), err error) {
	questions := make(chan *nats.Msg, 1024)
	sub, err := c.conn.NATS().ChanQueueSubscribe(wire.SubjectMarks, wire.ConsumerUsage, questions)
	if err != nil {
		return nil, fmt.Errorf("subscribe to mark questions: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case msg := <-questions:
				c.answer(ctx, msg)
			}
		}
	}()
	return func() {
		if err := sub.Unsubscribe(); err != nil {
			c.log.Debug("mark subscription was not removed", slog.Any("error", err))
		}
		cancel()
		<-done
	}, nil
}

func (c *Consumer) answer(ctx context.Context, msg *nats.Msg) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	var question wire.MarkRequest
	var reply wire.MarkReply
	if err := json.Unmarshal(msg.Data, &question); err != nil || question.Gateway.IsZero() {
		reply.Error = "the question is not readable"
	} else if mark, err := c.writer.UsageMark(ctx, question.Gateway); err != nil {
		c.log.Debug("a usage mark could not be looked up", slog.Any("error", err))
		reply.Error = "the mark could not be looked up"
	} else {
		reply.Committed = mark
	}
	body, err := json.Marshal(reply)
	if err != nil {
		c.log.Error("a mark reply could not be encoded", slog.Any("error", err))
		return
	}
	c.counts.marks.Add(1)
	if err := msg.Respond(body); err != nil {
		c.log.Debug("a mark reply was not sent", slog.Any("error", err))
	}
}
