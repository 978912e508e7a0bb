package postgres

import (
	"context"
	"encoding/hex"

	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

// markOf is what begins the sealed value of a column, in hex: the mark of the key
// that sealed it.
func markOf(column string) string { return "encode(substring(" + column + " FROM 1 FOR 5), 'hex')" }

// staleSeals reads the columns of those rows of a query for which its mark is none
// of the marks, each once and in order. It works as the system role.
func staleSeals(ctx context.Context, query, columns string, marks [][]byte, rows any) error {
	current := make(textArray, len(marks))
	for i, mark := range marks {
		current[i] = hex.EncodeToString(mark)
	}
	err := system(ctx).Raw("SELECT DISTINCT "+columns+" FROM ("+query+") s WHERE mark <> ALL (?) ORDER BY "+columns, current).Scan(rows).Error
	return translate(err, "look for old seals")
}

// countSeals counts the rows of a query by the keys of their marks. It works as the
// system role.
func countSeals(ctx context.Context, query string) (reseal.Count, error) {
	var rows []struct {
		Mark  string
		Count int
	}
	err := system(ctx).Raw("SELECT mark, count(*) AS count FROM (" + query + ") s GROUP BY 1").Scan(&rows).Error
	count := make(reseal.Count, len(rows))
	for _, r := range rows {
		mark, _ := hex.DecodeString(r.Mark) // Postgres wrote it
		key, _ := seal.SealedBy(mark)
		count[key] += r.Count
	}
	return count, translate(err, "count seals")
}
