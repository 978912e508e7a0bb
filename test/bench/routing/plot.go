package main

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// pointEvery is the distance of two points in the plots.
const pointEvery = 30 * time.Second

// Colors of Okabe and Ito, which most people can tell apart.
var colors = []color.Color{
	color.RGBA{R: 0, G: 114, B: 178, A: 255},
	color.RGBA{R: 230, G: 159, B: 0, A: 255},
	color.RGBA{R: 0, G: 158, B: 115, A: 255},
	color.RGBA{R: 204, G: 121, B: 167, A: 255},
	color.RGBA{R: 60, G: 60, B: 60, A: 255},
}

var shade = color.RGBA{R: 235, G: 235, B: 235, A: 255}

// plot writes routing-shares.png and routing-regret.png.
func (s *simulation) plot(results []result, dir string) error {
	if err := s.plotShares(results, filepath.Join(dir, "routing-shares.png")); err != nil {
		return err
	}
	return s.plotRegret(results, filepath.Join(dir, "routing-regret.png"))
}

// plotShares draws a panel for each policy: who got how much of the traffic.
func (s *simulation) plotShares(results []result, file string) error {
	panels := make([][]*plot.Plot, len(results))
	for i := range results {
		p := plot.New()
		p.Title.Text = results[i].policy
		p.Y.Min, p.Y.Max = 0, 1
		p.Y.Label.Text = "share of first attempts"
		if err := s.shadeEvents(p, 1, i == 0); err != nil {
			return err
		}
		for provider, name := range s.scene.providers {
			series := s.shares(&results[i], provider, pointEvery)
			line, err := plotter.NewLine(points(series))
			if err != nil {
				return fmt.Errorf("plot %s: %w", name, err)
			}
			line.Color, line.Width = colors[provider], vg.Points(1.3)
			p.Add(line)
			if i == 2 { // the first panel has the events' names there, the next its lines
				p.Legend.Add(name, line)
			}
		}
		p.Legend.Top, p.Legend.Left = true, false
		p.X.Min, p.X.Max = 0, s.scene.length.Minutes()
		panels[i] = []*plot.Plot{p}
	}
	panels[len(panels)-1][0].X.Label.Text = "minutes"
	return save(panels, file, vg.Length(len(panels))*6*vg.Centimeter)
}

// plotRegret draws how much more than the oracle each policy has cost so far.
func (s *simulation) plotRegret(results []result, file string) error {
	p := plot.New()
	p.Title.Text = "cost beyond the oracle's, summed up"
	p.X.Label.Text, p.Y.Label.Text = "minutes", "USD"
	best := &results[len(results)-1]
	highest := 0.0
	lines := make([]*plotter.Line, len(results)-1)
	for i := range lines {
		series := s.behind(&results[i], best, pointEvery)
		highest = max(highest, series[len(series)-1])
		line, err := plotter.NewLine(points(series))
		if err != nil {
			return fmt.Errorf("plot %s: %w", results[i].policy, err)
		}
		line.Color, line.Width = colors[i], vg.Points(1.6)
		lines[i] = line
	}
	if err := s.shadeEvents(p, highest, true); err != nil {
		return err
	}
	for i, line := range lines {
		p.Add(line)
		p.Legend.Add(results[i].policy, line)
	}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.YOffs = -vg.Centimeter
	p.X.Min, p.X.Max = 0, s.scene.length.Minutes()
	return save([][]*plot.Plot{{p}}, file, 10*vg.Centimeter)
}

// shadeEvents marks when something happens, and says what.
func (s *simulation) shadeEvents(p *plot.Plot, height float64, named bool) error {
	var at plotter.XYs
	var names []string
	for _, e := range s.scene.events {
		from, to := e.from.Minutes(), e.to.Minutes()
		area, err := plotter.NewPolygon(plotter.XYs{{X: from}, {X: to}, {X: to, Y: height}, {X: from, Y: height}})
		if err != nil {
			return fmt.Errorf("plot %s: %w", e.name, err)
		}
		area.Color, area.Width = shade, 0
		p.Add(area)
		at, names = append(at, plotter.XY{X: from, Y: 0.93 * height}), append(names, e.name)
	}
	if !named {
		return nil
	}
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: at, Labels: names})
	if err != nil {
		return fmt.Errorf("plot labels: %w", err)
	}
	p.Add(labels)
	return nil
}

func points(series []float64) plotter.XYs {
	xy := make(plotter.XYs, len(series))
	for i, v := range series {
		xy[i] = plotter.XY{X: (float64(i) + 0.5) * pointEvery.Minutes(), Y: v}
	}
	return xy
}

// save draws the panels below each other on one picture.
func save(panels [][]*plot.Plot, file string, height vg.Length) error {
	picture := vgimg.NewWith(vgimg.UseWH(24*vg.Centimeter, height), vgimg.UseDPI(96))
	canvases := plot.Align(panels, draw.Tiles{Rows: len(panels), Cols: 1, PadY: vg.Millimeter * 5}, draw.New(picture))
	for i := range panels {
		panels[i][0].Draw(canvases[i][0])
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("save plot: %w", err)
	}
	if _, err := (vgimg.PngCanvas{Canvas: picture}).WriteTo(f); err != nil {
		_ = f.Close() // the first failure is the one to tell
		return fmt.Errorf("save plot: %w", err)
	}
	return f.Close()
}
