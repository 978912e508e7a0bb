// Command routing plays an hour of traffic over four simulated providers that
// fail, recover, slow down, change price and limit rates, under the product's
// own ranking and under others, and shows who left a failing provider when and
// what it cost. Nothing waits and nothing is called: time is a number, and one
// seed gives one result.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	seed := flag.Uint64("seed", 1, "of everything that is random")
	to := flag.String("docs", "", "directory to write the plots to; empty writes none")
	flag.Parse()
	if err := run(os.Stdout, *seed, *to); err != nil {
		fmt.Fprintln(os.Stderr, "routing:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, seed uint64, docs string) error {
	s := newSimulation(builtIn(seed))
	var results []result
	for _, name := range policies() {
		results = append(results, s.run(name))
	}
	if err := s.report(w, results); err != nil {
		return err
	}
	if docs == "" {
		return nil
	}
	return s.plot(results, docs)
}
