package publish

import "context"

// Comparisons returns a function that compares as the leader does time and
// again, the first time fully, without its pauses.
func (p *Publisher) Comparisons(ctx context.Context) func() error {
	l := newLeader(p)
	var last comparison
	return func() (err error) {
		last, err = l.compare(ctx, last)
		return err
	}
}
