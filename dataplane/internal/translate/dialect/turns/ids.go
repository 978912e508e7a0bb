package turns

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// distinct gives calls whose id another call of the conversation has already an
// id of their own, and their results with them: some providers count from
// "call_0" in every turn, and the formats of this kind refuse it. A result
// answers a call of the turn before it; of calls with one id the first result
// is the first one's.
func distinct(turns []Turn) {
	taken := make(map[string]bool)
	var given map[string][]string // of the last turn of calls, by the id that they had
	for i := range turns {
		if turns[i].Role == Assistant {
			given = make(map[string][]string)
		}
		for j := range turns[i].Parts {
			p := &turns[i].Parts[j]
			switch {
			case p.Call != nil:
				id := free(taken, p.Call.ID)
				taken[id] = true
				given[p.Call.ID] = append(given[p.Call.ID], id)
				if id != p.Call.ID {
					call := *p.Call
					call.ID = id
					p.Part = &conversation.Part{Kind: p.Kind, Call: &call, Cache: p.Cache}
				}
			case p.Result != nil && len(given[p.Result.CallID]) > 0:
				ids := given[p.Result.CallID]
				given[p.Result.CallID] = ids[1:]
				if ids[0] != p.Result.CallID {
					result := *p.Result
					result.CallID = ids[0]
					p.Part = &conversation.Part{Kind: p.Kind, Result: &result, Cache: p.Cache}
				}
			}
		}
	}
}

// free is id, or one made of it that is not taken.
func free(taken map[string]bool, id string) string {
	next := id
	for n := 2; taken[next]; n++ {
		next = id + "_" + strconv.Itoa(n)
	}
	return next
}
