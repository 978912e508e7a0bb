package converse

import (
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// usageOf reads a usage object. What is read from the cache and written to it
// stands beside inputTokens; a write that cacheDetails do not split is of five
// minutes.
func usageOf(v gjson.Result) conversation.Usage {
	sound := true
	count := func(v gjson.Result) int64 {
		if v.Type != gjson.Number {
			return 0
		}
		n := rawjson.Int([]byte(v.Raw))
		sound = sound && n <= dialect.MostTokens && v.Raw[0] != '-'
		return n
	}
	u := meter.Usage{
		Input: count(v.Get("inputTokens")), Output: count(v.Get("outputTokens")), CachedRead: count(v.Get("cacheReadInputTokens")),
	}
	each(v.Get("cacheDetails"), func(v gjson.Result) {
		n := count(v.Get("inputTokens"))
		if text(v.Get("ttl")) == "1h" {
			u.CacheWrite1h += n
		} else {
			u.CacheWrite5m += n
		}
	})
	u.CacheWrite5m = max(u.CacheWrite5m, count(v.Get("cacheWriteInputTokens"))-u.CacheWrite1h)
	if !sound {
		return conversation.Usage{}
	}
	return conversation.Usage{Usage: u, Known: !u.IsZero()}
}
