package publish

import (
	"crypto/md5" //nolint:gosec // a checksum that Postgres can compute too
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Sum sums up the documents of one range: how many, the highest revision, and
// a hash over (name, revision) that does not depend on the order.
type Sum struct {
	Count   int64
	Highest int64
	Hash    int64
}

// Sums are the sums of all ranges that have documents.
type Sums map[string]Sum

// Add counts a document in. The hash is the exclusive or of the first eight
// bytes of md5("name:revision"), which Postgres computes with bit_xor.
func (s Sums) Add(r, name string, revision int64) {
	digest := md5.Sum([]byte(name + ":" + strconv.FormatInt(revision, 10))) //nolint:gosec // see above
	sum := s[r]
	sum.Count++
	sum.Highest = max(sum.Highest, revision)
	sum.Hash ^= int64(binary.BigEndian.Uint64(digest[:8]))
	s[r] = sum
}

// documents is how many documents s is over.
func (s Sums) documents() int64 {
	var n int64
	for _, sum := range s {
		n += sum.Count
	}
	return n
}

// Differ lists the ranges in which s and other are not the same.
func (s Sums) Differ(other Sums) map[string]bool {
	differ := make(map[string]bool)
	for r, sum := range s {
		if other[r] != sum {
			differ[r] = true
		}
	}
	for r, sum := range other {
		if s[r] != sum {
			differ[r] = true
		}
	}
	return differ
}

// KeyRange is the range of a kid: its first two characters, which are random.
func KeyRange(kid string) string { return kid[:min(2, len(kid))] }

// PolicyRange is the range of a workspace: the last two digits of its UUID,
// which are random; the first ones are its creation time.
func PolicyRange(ws id.Workspace) string {
	text := ws.UUID().String()
	return text[len(text)-2:]
}

func workspaceOf(pointer string) (id.Workspace, error) {
	return id.Parse[id.WorkspaceKind](strings.TrimPrefix(pointer, "ws."))
}
