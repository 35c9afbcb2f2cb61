-- The bidirectional LSTM of Keras' example on film reviews (keras.io/examples/nlp/bidirectional_lstm_imdb): 2 757 761
-- parameters. Logits: use a loss with from_logits.
local gb = require "gpubench.native"

return {
  defaults = { vocabulary = 20000, length = 200, width = 128, units = 64, classes = 1 },
  build = function(options)
    local input = gb.Input({ options.length }, { dtype = "int32" })
    local x = gb.layers.Embedding(options.vocabulary, options.width, { name = "tokens" })(input)
    x = gb.layers.Bidirectional(gb.layers.LSTM(options.units, { return_sequences = true }),
      { name = "bidirectional1" })(x)
    x = gb.layers.Bidirectional(gb.layers.LSTM(options.units), { name = "bidirectional2" })(x)
    local logits = gb.layers.Dense(options.classes, { name = "classes", dtype = "float32" })(x)
    return gb.Model { inputs = input, outputs = logits, name = "lstm_text" }
  end,
}
