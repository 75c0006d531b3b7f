package mcphost

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fyllocode.dev/fyllo"
)

var promptToAgent = tool{
	blocks: true,
	Tool: mcp.Tool{
		Name:  "prompt_to_agent",
		Title: "Prompt another Agent",
		Description: "Gives one focused task to another Agent, in a new session of its own or, with sessionId, in one that you started before.\n\n" +
			"Background is the default and the right choice for real work: the call returns \"accepted\" as soon as the Agent has the task. " +
			"Accepted is not done. Go on with your own work, look with check_session_status every 30 seconds or so, and fetch the result with read_response once " +
			"the status is idle; a notification about the end also arrives. Use background:false only for simple tasks of less than about 30 seconds: you can say nothing " +
			"while you wait.\n\n" +
			"The other Agent knows nothing of this conversation: put everything it needs into the prompt. It works in the same directories as you, without locks, " +
			"so give Agents that work in parallel files that do not overlap. The user sees every session by itself; emit a spawn.session Signal at most once, " +
			"and only for a newly created session.\n\n" +
			"folderId (new sessions only) limits the work to one Folder; a continuation keeps the scope it began with, as well as its agentId. " +
			"Pass model and thought_level by name without any probing call: what an Agent offers is known only from its live session, not from available_agents, its " +
			"start or any cache. \"configuration_required\" means that a name fitted none or several of the values: nothing was sent; choose one of the candidates, or ask the user, and " +
			"call again with the returned sessionId, the same agentId and the whole prompt. SPAWN_CONFIG_FAILED means that the settings could not be applied and nothing was sent. " +
			"config sets options by their exact ids; alone it never blocks the task, and what could not be set is listed in warnings.\n\n" +
			"At most 4 tasks run for one conversation and 8 in all; \"capacity_exceeded\" can be tried again later. A session whose task failed or was cancelled cannot be used again (\"expired\"): " +
			"start a new one and restate the task.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{
			"agentId":{"type":"string","minLength":1,"description":"from available_agents"},
			"prompt":{"type":"string","minLength":1,"description":"the whole task, with everything the other Agent has to know"},
			"sessionId":` + idSchema + `,"description":"of an earlier call, to continue its session; leave out to start a new one"},
			"folderId":` + idSchema + `,"description":"only without sessionId: work in this Folder alone"},
			"model":{"type":"string","minLength":1,"description":"name or value of a model"},
			"thought_level":{"type":"string","minLength":1,"description":"name or value of a thinking level, judged after the model was set"},
			"config":{"type":"object","maxProperties":64,"additionalProperties":{"type":["string","boolean"]},"description":"exact option ids and values"},
			"background":{"type":"boolean","default":true,"description":"false waits for the answer"}},
			"required":["agentId","prompt"],"additionalProperties":false}`),
		OutputSchema: json.RawMessage(`{"type":"object","properties":{
			"status":{"type":"string","enum":["accepted","completed","configuration_required","busy","capacity_exceeded","expired","not_found","error"]},
			"sessionId":{"type":"string"},"turnId":{"type":"string"},"responseId":{"type":"string"},
			"content":{"type":"string"},"truncated":{"type":"boolean"},"nextCursor":{"type":"string"},
			"startedAt":{"type":"string"},"lastActivityAt":{"type":"string"},"promptDispatched":{"type":"boolean","enum":[false]},
			"config":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"},
				"type":{"type":"string","enum":["select","boolean"]},"currentValue":{"type":["string","boolean"]}},
				"required":["id","name","type","currentValue"],"additionalProperties":false}},
			"warnings":{"type":"array","items":{"type":"object","properties":{"optionId":{"type":"string"},"message":{"type":"string"}},
				"required":["optionId","message"],"additionalProperties":false}},
			"issues":{"type":"array","items":{"type":"object","properties":{"parameter":{"type":"string","enum":["model","thought_level"]},
				"reason":{"type":"string","enum":["unsupported","ambiguous","missing_category_option"]},"requested":{"type":"string"},
				"optionId":{"type":"string"},"category":{"type":"string"},
				"candidates":{"type":"array","items":{"type":"object","properties":{"value":{"type":"string"},"name":{"type":"string"},
					"group":{"type":"string"},"description":{"type":"string"}},"required":["value","name"],"additionalProperties":false}}},
				"required":["parameter","reason","requested","candidates"],"additionalProperties":false}},
			"code":{"type":"string"},"message":{"type":"string"},"retryable":{"type":"boolean"},
			` + errorSchema + `},"additionalProperties":false}`),
	},
	run: func(ctx context.Context, h *Host, o fyllo.SpawnOwner, args arguments) (any, error) {
		p, err := promptOf(args)
		if err != nil {
			return nil, err
		}
		return h.Spawner.Prompt(ctx, o, p)
	},
}

// promptOf reads the input of prompt_to_agent.
func promptOf(args arguments) (p fyllo.SpawnPrompt, err error) {
	var agent, prompt *string
	background := true
	steps := []func() error{
		func() (err error) { agent, err = args.text("agentId"); return err },
		func() (err error) { prompt, err = args.text("prompt"); return err },
		func() (err error) { p.SessionID, err = args.identity("sessionId", false); return err },
		func() error {
			folder, err := args.identity("folderId", false)
			p.FolderID = fyllo.FolderID(folder)
			return err
		},
		func() (err error) { p.Model, err = args.text("model"); return err },
		func() (err error) { p.ThoughtLevel, err = args.text("thought_level"); return err },
		func() (err error) { p.Config, err = args.options("config"); return err },
		func() (err error) { background, err = args.boolean("background", true); return err },
		args.rest,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return p, err
		}
	}
	if agent == nil || prompt == nil {
		return p, wrong("agentId and prompt are required.")
	}
	p.AgentID, p.Prompt, p.Mode = fyllo.AgentID(*agent), *prompt, fyllo.SpawnBackground
	if !background {
		p.Mode = fyllo.SpawnSync
	}
	return p, nil
}
