package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// prices are what limits of a price are held against: the most that an endpoint
// asks for a token that goes in and for one that comes out, thought or said; nil
// where it is not known. A fee for the request itself is in no price of a token,
// and breaks only a limit that wants nothing paid.
type prices struct {
	in, out *money.PerMillion
	fee     money.Nanos
}

// pricesOf are an endpoint's prices for a request of this many input tokens.
func pricesOf(o *catalog.Offer, tokens int64) prices {
	if o.Endpoint.Price == nil {
		return prices{}
	}
	rates := meter.Rates(o.Endpoint.Price, tokens)
	p := prices{in: rates.Input, out: rates.Output, fee: rates.Request}
	if thought := rates.Reasoning; thought != nil && p.out != nil && *thought > *p.out {
		p.out = thought
	}
	return p
}

// within says what is against a price: it is not known, it is above the limit,
// or nothing.
func (p *prices) within(price, limit *money.PerMillion) (Stage, string) {
	switch {
	case limit == nil:
		return StageNone, ""
	case price == nil:
		return StagePricePresent, reasonPriceUnknown
	case *price > *limit, *limit == 0 && p.fee > 0:
		return StageMaxPrice, reasonTooDear
	}
	return StageNone, ""
}
