-- Loads weights.safetensors of PEERS_FOLDER into a net of gb.zoo and prints how far its result for x.npy is from y.npy.
-- PEERS_FROM is "torch" or "keras".
local gb = require "gpubench"
local names = require "names"
local zoo_options = require "zoo_options"

local net, folder = os.getenv "PEERS_NET", os.getenv "PEERS_FOLDER" .. "/"
local from = os.getenv "PEERS_FROM" or "torch"
local model = gb.zoo[net](zoo_options.parse(os.getenv "PEERS_OPTIONS" or ""))
local started = gb._native.system.seconds()
-- The published GPT-2 stores its products as [in, out].
model:load_weights {
  folder .. "weights.safetensors",
  names = from == "keras" and names.keras[net] or names[net],
  layout = (from == "keras" or net == "gpt2_small") and "keras" or "torch",
}
local loaded = gb._native.system.seconds() - started
local expected = gb.load_npy(folder .. "y.npy")
local found = model:predict(gb.load_npy(folder .. "x.npy"), { batch_size = 2 })
local largest = expected:abs():max():item()
local error = (found - expected):abs():max():item()
print(string.format('{"net": "%s", "from": "%s", "error": %.3g, "largest": %.3g, "loading_s": %.3g}', net, from, error,
  largest, loaded))
