package coreapi

import (
	"context"
	"net/http"

	"fyllocode.dev/fyllo"
)

// Status says what Core does.
func (c *Client) Status(ctx context.Context) (fyllo.Status, error) {
	var out fyllo.Status
	err := c.Call(ctx, http.MethodGet, "/api/status", nil, &out)
	return out, err
}
