package simulator

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"time"

	"github.com/tidwall/gjson"
)

// maxMarks is how many cache marks a request may have.
const maxMarks = 4

// marks follows a prompt in its order (tools, system, messages), and notes
// what is to be cached.
type marks struct {
	sum   hash.Hash
	list  []cacheMark
	count int
	short bool // a mark of five minutes came
}

func newMarks() *marks { return &marks{sum: sha256.New()} }

// block takes one block into the prefix. Its own mark is no part of that.
func (m *marks) block(p *prompt, at string, block gjson.Result) *refusal {
	if block.IsObject() {
		block.ForEach(func(k, v gjson.Result) bool {
			if k.Str != "cache_control" {
				m.sum.Write([]byte(k.Raw + v.Raw))
			}
			return true
		})
	} else {
		m.sum.Write([]byte(block.Raw))
	}
	return m.mark(p, at, block.Get("cache_control"))
}

func (m *marks) mark(p *prompt, at string, control gjson.Result) *refusal {
	if !control.Exists() || control.Type == gjson.Null {
		return nil
	}
	life := 5 * time.Minute
	switch ttl := control.Get("ttl").Str; {
	case control.Get("type").Str != "ephemeral":
		return refuse("", "%s.cache_control.type: Input should be 'ephemeral'", at)
	case unknownIn(control, set("type ttl")) != "":
		return anthropicFormat{}.unknown(at + ".cache_control." + unknownIn(control, set("type ttl")))
	case ttl == "1h" && m.short:
		return refuse("", "%s.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "+
			"Note that blocks are processed in the following order: `tools`, `system`, `messages`.", at)
	case ttl == "1h":
		life = time.Hour
	case ttl == "", ttl == "5m":
		m.short = true
	default:
		return refuse("", "%s.cache_control.ttl: Input should be '5m' or '1h'", at)
	}
	if m.count++; m.count > maxMarks {
		return refuse("", "A maximum of 4 blocks with cache_control may be provided. Found %d.", m.count)
	}
	m.list = append(m.list, cacheMark{prefix: hex.EncodeToString(m.sum.Sum(nil)), tokens: p.input, life: life})
	return nil
}

// top is the mark of the whole request, on its last block.
func (m *marks) top(p *prompt, control gjson.Result) *refusal { return m.mark(p, "", control) }
