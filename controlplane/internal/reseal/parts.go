package reseal

import "context"

// Counter counts what is sealed by the ids of the keys.
type Counter interface {
	Seals(ctx context.Context) (Count, error)
}

// Sum counts what several have together.
type Sum []Counter

// Seals implements Counter.
func (s Sum) Seals(ctx context.Context) (Count, error) {
	total := Count{}
	for _, part := range s {
		count, err := part.Seals(ctx)
		if err != nil {
			return nil, err
		}
		for key, n := range count {
			total[key] += n
		}
	}
	return total, nil
}
