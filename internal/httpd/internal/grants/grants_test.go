package grants

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestGrantsExpire_R_WS_127(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Grants
		a, b := g.Issue(Target{Workspace: "ws-a"}), g.Issue(Target{})
		time.Sleep(grantLife - time.Second)
		if got, ok := g.Redeem(a); !ok || got.Workspace != "ws-a" {
			t.Errorf("redeem = %v, %v before the end", got, ok)
		}
		time.Sleep(2 * time.Second)
		if _, ok := g.Redeem(b); ok {
			t.Error("redeemed after the end")
		}
		g.Issue(Target{})
		time.Sleep(grantLife + time.Second)
		g.Issue(Target{})
		if len(g.open) != 1 {
			t.Errorf("%d grants are kept, want 1", len(g.open))
		}
	})
}
