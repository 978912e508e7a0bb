package reference

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// Block is a fenced block of a page.
type Block struct {
	Line int // of its first line of text
	Text string
}

// Blocks returns the fenced blocks of a page that are in the language; "" is
// those that name none.
func Blocks(path, language string) ([]Block, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open page: %w", err)
	}
	defer func() { _ = f.Close() }()
	var blocks []Block
	var open *Block
	wanted := false
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		fence, isFence := strings.CutPrefix(text, "```")
		switch {
		case isFence && open == nil:
			open, wanted = &Block{Line: n + 1}, fence == language
		case isFence:
			if wanted {
				blocks = append(blocks, *open)
			}
			open = nil
		case open != nil:
			open.Text += text + "\n"
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read page %s: %w", path, err)
	}
	if open != nil {
		return nil, fmt.Errorf("%s:%d: the block has no end", path, open.Line)
	}
	return blocks, nil
}
