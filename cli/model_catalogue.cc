#include "cli/model_catalogue.h"

#include <algorithm>

namespace heed::cli {

const std::vector<ModelPage>& model_pages() {
  static const std::vector<ModelPage> all = {
      {.id = "X1",
       .name = "rnn_encoder_decoder",
       .title = "an RNN reads, an RNN writes, attention between them",
       .formula = "h_j = [GRU(x_j, h_(j-1)); GRU(x_j, h_(j+1))]  s_t = GRU([y_(t-1); c_(t-1)], s_(t-1))  "
                  "e_tj = score(s_t, h_j),  a_t = softmax(e_t),  c_t = sum_j a_tj h_j  "
                  "p(y_t) = softmax(W_o tanh(W_c [s_t; c_t]))",
       .shapes = "x [S] tokens; h [S, 2 width]; s [T, width]; e and a [T, S]; c [T, 2 width]; p [T, vocabulary]",
       .paper = "Bahdanau, Cho and Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate; "
                "Luong, Pham and Manning 2015, Effective Approaches to Attention-based Neural Machine Translation",
       .cost =
           "S + T steps one after the other, each about 3 (2 width)^2 multiplications for a GRU; attention T S pairs",
       .page =
           "The encoder reads the source in both directions, so that a state knows what comes before and after. The "
           "decoder writes one token at a time. At each step its state is the query; the states of the encoder are "
           "the keys and the values. Without attention everything about the source would have to fit in one "
           "vector.\n\n"
           "Any score, normaliser, region and time behaviour of the catalogue goes between them. model.cell chooses "
           "GRU or LSTM, model.bidirectional the directions, model.input_feeding = true hands c_(t-1) to the next "
           "step, as in the formula.",
       .command = "heed train pairs.tsv --set model.kind=rnn --set attention.score=additive\nheed look pairs-model "
                  "\"a line\" --svg alignment.svg",
       .picture = "alignment.svg"},
      {.id = "X2",
       .name = "transformer_encoder",
       .title = "blocks of self-attention and a network for each token",
       .formula = "u = LayerNorm(x + MultiHead(x, x, x))  y = LayerNorm(u + W_2 relu(W_1 u + b_1) + b_2)  "
                  "LayerNorm(x)_d = g_d (x_d - mean(x)) / sqrt(var(x) + epsilon) + b_d",
       .shapes =
           "x, u, y [S, width]; MultiHead: heads of [S, S] weights; W_1 [hidden, width], W_2 [width, hidden]; mean "
           "and var of one token over its width",
       .paper =
           "Vaswani et al. 2017, Attention Is All You Need; Ba, Kiros and Hinton 2016, Layer Normalization; before "
           "instead of after: Xiong et al. 2020, On Layer Normalization in the Transformer Architecture",
       .cost =
           "a block: 4 S width^2 + 2 S width hidden for the matrices, 2 S^2 width for attention; all tokens at once",
       .page =
           "Every token asks all tokens (also itself) what it should know of them; then a small network works on each "
           "token alone. What comes in is added to what comes out (a residual), so that a block only has to say what "
           "changes.\n\n"
           "Layer norm takes mean and variance over the numbers of one token. It needs no other token and no other "
           "sentence, so it does the same in training, on one sentence, and on any length. Batch norm would mix "
           "sentences of different lengths. model.norm = \"post\" is the formula, \"pre\" normalises what goes into "
           "each part instead and trains more easily when there are many blocks. [attention] chooses the mechanism.",
       .command =
           "heed train pairs.tsv --set model.kind=transformer --set model.encoder_layers=2\nheed look pairs-model "
           "\"a line\" --attention encoder.0.self",
       .picture = "transformer_encoder.svg"},
      {.id = "X3",
       .name = "transformer_decoder",
       .title = "one token at a time: masked self-attention, then attention to the source",
       .formula = "u = LayerNorm(y + MultiHead(y, y, y))  j <= t in this attention  "
                  "v = LayerNorm(u + MultiHead(u, h, h))  z = LayerNorm(v + FeedForward(v))  "
                  "p(y_t) = softmax(W_o z_(t-1)),  until y_t = END",
       .shapes =
           "y, u, v, z [T, width]; h [S, width] of the encoder; masked weights [T, T], weights on the source [T, S]",
       .paper = "Vaswani et al. 2017, Attention Is All You Need",
       .cost =
           "training: all T steps at once, 8 T width^2 + 2 T width hidden + 2 T (T + S) width a block; writing: one "
           "step at a time, with keys and values of earlier steps kept",
       .page =
           "In training the right output is known, so all positions are computed at once; the mask hides from each "
           "position what it is to predict. While writing there is nothing to the right yet: the mask makes training "
           "equal to that. It stops when it writes END, a token of its own in the vocabulary.\n\n"
           "The second attention is where the query comes from the decoder, and keys and values from the encoder.",
       .command =
           "heed train pairs.tsv --set model.kind=transformer --set model.decoder_layers=2\nheed look pairs-model "
           "\"a line\" --attention decoder.0.self",
       .picture = "transformer_decoder.svg"},
      {.id = "X4",
       .name = "parallel_decoder",
       .title = "all positions of the output at once (non-autoregressive)",
       .formula = "T = argmax LengthClassifier(h),  or the first END of some slots  z = Decoder(positions(T), h)  "
                  "p(y) = p(y_1) p(y_2) .. p(y_T)",
       .shapes = "h [S, width]; z [T, width]; weights inside [T, T] without a mask, on the source [T, S]",
       .paper =
           "Gu et al. 2018, Non-Autoregressive Neural Machine Translation; Ghazvininejad et al. 2019, Mask-Predict",
       .cost = "one pass over T positions instead of T passes over one; more with refinement",
       .page =
           "No position waits for another, so writing is fast, and the length is chosen before. The price: positions "
           "do not know what the others chose, and two good outputs may be mixed into a bad one. Training on the "
           "outputs of a model that writes step by step (heed distill) and refinement help.",
       .command = "heed train recipes/dates/parallel.toml\nheed predict parallel --iterations 4",
       .picture = "parallel.svg"},
      {.id = "X5",
       .name = "wiring",
       .title = "which block of the encoder a block of the decoder attends to",
       .formula = "last: K_l = V_l = h_L for every block l  same_block: K_l = V_l = h_l  "
                  "mix: K_l = V_l = sum_b w_lb h_b,  w_l = softmax(m_l)",
       .shapes = "h_b [S, width] of block b; m [decoder blocks, encoder blocks], learned",
       .paper =
           "Vaswani et al. 2017 for last; He et al. 2018, Layer-Wise Coordination between Encoder and Decoder, for "
           "block to block; Bapna et al. 2018, Training Deeper Neural Machine Translation Models with Transparent "
           "Attention, for the mix",
       .cost = "last and same_block the same; mix adds S width multiplications for each pair of blocks",
       .page =
           "The usual wiring gives all blocks of the decoder the last block of the encoder. Block i may read block i "
           "instead (both have equally many), or a learned mix of all, in which the gradient reaches every block of "
           "the encoder directly.",
       .command = "heed train pairs.tsv --set model.kind=transformer --set model.wiring=mix",
       .picture = ""},
      {.id = "X6",
       .name = "positions",
       .title = "how a model that sees its tokens as a set knows their order",
       .formula =
           "sinusoidal: P_(i,2d) = sin(i / 10000^(2d/width)),  P_(i,2d+1) = cos(i / 10000^(2d/width))  "
           "x_i = sqrt(width) E_(token i) + P_i  learned: P is a table  "
           "rotary: q_i and k_j turned by angles i and j times base^(-2d/D), so that q_i . k_j depends on i - j  "
           "alibi: e_ij - m_h |i - j|  relative: e_ij + r_(i-j)",
       .shapes = "P [length, width], added to the vectors of tokens; rotary turns pairs of columns of q and k [.., D]; "
                 "alibi and relative add to e [Tq, Tk]",
       .paper =
           "Vaswani et al. 2017 for sin and cos; Gehring et al. 2017 for learned; Su et al. 2021, RoFormer; Press, "
           "Smith and Lewis 2022, ALiBi; Shaw, Uszkoreit and Vaswani 2018 for relative",
       .cost =
           "sinusoidal, learned: S width additions; rotary: 2 S width a layer; alibi, relative: one addition a pair",
       .page =
           "Self-attention would give the same if the words were shuffled. So something about the place is added: to "
           "the vector of the token (sinusoidal, learned), or to the comparison of two tokens (rotary, alibi, "
           "relative). Sines need no training and exist for every length; a learned table ends at model.max_length. "
           "Rotary and alibi know only distances.",
       .command = "heed train pairs.tsv --set model.kind=transformer --set model.positions=rotary\nheed explain "
                  "self_attention "
                  "--set position=alibi",
       .picture = "positions.svg"},
      {.id = "X7",
       .name = "document_classifier",
       .title = "a text in, a label out",
       .formula = "h = Encoder(x)  e_i = score(u, h_i),  a = softmax(e),  c = sum_i a_i h_i  p = softmax(W c + b)",
       .shapes =
           "h [S, width or 2 width]; u learned; a [S], structured: [r, S], hierarchical: of words and of sentences; "
           "p [labels]",
       .paper =
           "Yang et al. 2016, Hierarchical Attention Networks; Lin et al. 2017, A Structured Self-Attentive Sentence "
           "Embedding; Raffel and Ellis 2015",
       .cost = "the encoder, and S multiplications of width for the pool",
       .page =
           "One learned query asks the text: what matters for the label? Its weights shade the words, which shows what "
           "a decision rests on. Long texts are read in two levels, words to sentences to the document.",
       .command = "heed train reviews.tsv --set attention.structure=hierarchical\nheed predict reviews-model "
                  "--alignments=picture",
       .picture = "document_classifier.svg"},
      {.id = "X8",
       .name = "language_model",
       .title = "what comes next",
       .formula = "p(x) = p(x_1) p(x_2 | x_1) .. p(x_n | x_1 .. x_(n-1))",
       .shapes = "x [n] tokens; weights [n, n] under the mask j <= t, or [n, window] of key-value attention",
       .paper = "Daniluk et al. 2017, Frustratingly Short Attention Spans in Neural Language Modeling; Vaswani et al. "
                "2017 for the blocks",
       .cost = "as a decoder without a source",
       .page =
           "A Transformer decoder without a source, or an LSTM that looks back at its own states by key-value "
           "attention or intra-attention. It learns from running text, continues a beginning, and says how likely a "
           "text is.",
       .command = "heed train recipes/tinyshakespeare/key_value.toml --set data.folder=FOLDER\nheed predict key_value "
                  "--sample --temperature 0.8",
       .picture = ""},
      {.id = "X9",
       .name = "image_regions",
       .title = "the cells of a picture as keys and values",
       .formula = "h = Convolutions(picture)  e_tj = score(s_t, h_j),  a_t = softmax(e_t),  c_t = sum_j a_tj h_j",
       .shapes = "picture [height, width, 3]; h [rows x columns of cells, width]; a [T, cells]",
       .paper = "Xu et al. 2015, Show, Attend and Tell",
       .cost = "the convolutions; attention T pairs for each cell",
       .page =
           "A small convolution turns a picture into a grid of vectors, one for each cell. The decoder asks at each "
           "word where to look, and the weights can be laid over the picture.",
       .command = "heed train recipes/scenes/captions.toml\nheed look captions scene.png --svg looked.svg",
       .picture = "scene_caption.png"},
      {.id = "X11",
       .name = "two_texts",
       .title = "a label for a pair of texts",
       .formula =
           "h = Encoder(x),  g = Encoder(y)  e_ij = score(g_i, h_j),  a_i = softmax(e_i),  c_i = sum_j a_ij h_j  "
           "p = softmax(W pool([g; c]) + b)",
       .shapes = "h [S, width] of the first text, g [T, width] of the second; a [T, S]; p [labels]",
       .paper = "Rocktaeschel et al. 2016, Reasoning about Entailment with Neural Attention; Parikh et al. 2016, A "
                "Decomposable Attention Model for Natural Language Inference",
       .cost = "the encoder twice, and T S pairs",
       .page =
           "Does the second text follow from the first, do they mean the same, does one answer the other? Each word of "
           "the second text is a query to the first; what it finds stands beside it when the text becomes one "
           "vector.",
       .command = "heed train pairs.tsv --set model.task=classification --set data.second_text_column=2",
       .picture = ""},
      {.id = "X13",
       .name = "masked_language_model",
       .title = "what is missing: an encoder that learns from text alone",
       .formula = "x' = x with 15 % of its tokens replaced  loss = - sum_i log p(x_i | x'),  i among the replaced ones",
       .shapes = "x and x' [n]; weights [n, n] without a mask: both sides are seen; p [replaced, vocabulary]",
       .paper = "Devlin et al. 2019, BERT: Pre-training of Deep Bidirectional Transformers",
       .cost = "an encoder, and its output layer for 15 % of the tokens",
       .page =
           "Tokens are hidden, and the encoder must find them from both sides. What it learns helps trainings with few "
           "labels or pairs: heed train labels.tsv --from MODEL starts from its vectors and layers.",
       .command =
           "heed train texts.txt --set model.task=masked_language_model --output texts-model\nheed train few.tsv "
           "--from texts-model",
       .picture = "masked_language_model.svg"},
      {.id = "X10",
       .name = "speech_to_text",
       .title = "recordings: frames are the source, a decoder writes what was said",
       .formula = "f_j = log mel |FFT(w x_j)|^2  h = Encoder(Conv(f)),  a quarter as many rows as frames  "
                  "p(y_t) = softmax(W_o Decoder(y_(t-1), Attention(s_t, h, h)))",
       .shapes = "x samples; f [frames, bands]; h [frames / 4, width]; weights [T, frames / 4]; p [T, vocabulary]",
       .paper = "Chan et al. 2016, Listen, Attend and Spell; Chorowski et al. 2015, Attention-Based Models for Speech "
                "Recognition; Park et al. 2019, SpecAugment",
       .cost = "the transforms of the frames, two convolutions, and then as for pairs of texts",
       .page =
           "Each row of weights says when a token was heard, so the attention gives the times of the words: --times. A "
           "score that knows where it looked before (location_aware) or a cost for leaving the diagonal (guided) helps "
           "attention to move forward. docs/speech.md has the walk.",
       .command = "heed train recordings.tsv\nheed predict recordings-model call.wav --times",
       .picture = ""},
      {.id = "L12",
       .name = "attend_compare_aggregate",
       .title = "two texts: soft alignment both ways, compared word by word",
       .formula = "c_i = sum_j softmax_j(score(h_i, k_j)) k_j  v_i = f(G [h_i; c_i; h_i - c_i; h_i * c_i])  "
                  "v = [sum_i v_i; max_i v_i] of both texts,  p = softmax(W v)",
       .shapes = "h [m, width] and k [n, width]; weights [m, n] and [n, m]; v of 4 width; p [labels]",
       .paper = "Parikh et al. 2016, A Decomposable Attention Model for Natural Language Inference; Chen et al. 2017, "
                "Enhanced LSTM for Natural Language Inference",
       .cost = "the encoder for both texts, and two attentions of m n pairs",
       .page =
           "Each word looks for its counterpart in the other text and is compared with what it finds. Entailment, "
           "paraphrases and other relations of two texts are decided by these comparisons, not by one vector for each "
           "text. model.relation also has word_by_word, joined and pool: docs/labels.md.",
       .command = "heed train premise-hypothesis-label.tsv --set model.relation=compare",
       .picture = ""},
      {.id = "L13",
       .name = "pointer_generator",
       .title = "a decoder that copies words of its source",
       .formula = "g_t = sigmoid(w^T s_t + b)  "
                  "p(y) = g_t p_vocabulary(y) + (1 - g_t) sum_(j: x_j = y) a_tj",
       .shapes = "g [T]; a [T, S]; p [T, vocabulary + words that only the source has]",
       .paper = "See, Liu and Manning 2017, Get To The Point: Summarization with Pointer-Generator Networks; Vinyals, "
                "Fortunato and Jaitly 2015, Pointer Networks",
       .cost = "a gate for each target token; what is copied is summed inside the loop of attention",
       .page =
           "The weights of attention are the probability of copying each word of the source. Names, numbers and other "
           "words that no vocabulary has can be written that way. model.coverage_loss makes it costly to look at the "
           "same place again. docs/copying.md has figures.",
       .command = "heed train texts-and-summaries.tsv --set model.copy=true\nheed look summaries-model \"a text\"",
       .picture = ""},
      {.id = "G1",
       .name = "teacher_forcing",
       .title = "the right tokens go in while training",
       .formula = "loss = - sum_t log p(y_t | y_1 .. y_(t-1), x)",
       .shapes = "y [T]; p [T, vocabulary], all positions at once",
       .paper =
           "Williams and Zipser 1989, A Learning Algorithm for Continually Running Fully Recurrent Neural Networks",
       .cost = "one pass over each pair",
       .page =
           "The decoder reads the right output so far, whatever it would have written itself. That is fast and stable. "
           "Its price is exposure bias: when it writes alone, it reads its own mistakes, which it never saw in "
           "training. Remedies: scheduled_sampling, reward_training.",
       .command = "heed train pairs.tsv --set train.objective=likelihood",
       .picture = ""},
      {.id = "G2",
       .name = "scheduled_sampling",
       .title = "sometimes the model's own token goes in",
       .formula =
           "y'_t = y_t with probability 1 - s, else drawn from p_t  loss = - sum_t log p(y_t | y'_1 .. y'_(t-1), x)",
       .shapes = "y, y' [T]",
       .paper = "Bengio et al. 2015, Scheduled Sampling for Sequence Prediction with Recurrent Neural Networks",
       .cost = "two passes for each pair",
       .page =
           "The probability s grows during training, so that the model first learns from right outputs, and later how "
           "to go on after its own.",
       .command = "heed train pairs.tsv --set train.objective=scheduled_sampling",
       .picture = ""},
      {.id = "G3",
       .name = "reward_training",
       .title = "learning from a score of whole outputs",
       .formula = "reinforce: gradient of - (R(y) - b) log p(y | x),  y drawn  "
                  "minimum_risk: sum_y (1 - R(y)) p(y)^alpha / sum_z p(z)^alpha over the drawn ones",
       .shapes = "a few outputs y for each source, R(y) one number each",
       .paper = "Ranzato et al. 2016, Sequence Level Training; Shen et al. 2016, Minimum Risk Training; Rennie et al. "
                "2017, Self-critical Sequence Training",
       .cost = "a search or several samples for each pair, and one pass over each",
       .page =
           "When no loss says what is wanted (BLEU, an exact match, anything that gives a number), outputs are drawn, "
           "scored, and made more likely if they are better than others. It starts from a model that was trained "
           "with teacher forcing.",
       .command = "heed train pairs.tsv --from pairs-model --set train.objective=minimum_risk",
       .picture = ""},
      {.id = "G5",
       .name = "noisy_inputs",
       .title = "some wrong tokens go in while training",
       .formula = "y'_(t-1) = y_(t-1),  or with a small probability a random token, the unknown one, or its neighbour",
       .shapes = "y and y' [T]",
       .paper = "Bowman et al. 2016, Generating Sentences from a Continuous Space, for word dropout; Bengio et al. "
                "2015 for the problem",
       .cost = "none",
       .page = "A decoder that has only seen right beginnings does not know what to do after its first mistake. "
               "train.noise_wrong, noise_dropped and noise_swapped say how often what it reads is wrong; what it must "
               "write "
               "stays right.",
       .command = "heed train pairs.tsv --set train.noise_wrong=0.1",
       .picture = ""},
      {.id = "B1",
       .name = "beam_search",
       .title = "keeping several beginnings",
       .formula = "score(y) = log p(y | x) / ((5 + T) / 6)^a",
       .shapes = "beam hypotheses of up to T tokens; the state of the decoder for each",
       .paper = "Sutskever, Vinyals and Le 2014; length and coverage penalty: Wu et al. 2016",
       .cost = "beam times that of greedy search",
       .page = "Greedy search takes the best token at each step, and cannot take it back. A beam keeps the best few "
               "beginnings. Without a penalty short outputs win, because every token makes an output less likely.",
       .command = "heed predict pairs-model --beam 5 --length-penalty 0.6\nheed look pairs-model \"a line\" --beam 3 "
                  "--tree",
       .picture = ""},
      {.id = "B2",
       .name = "sampling",
       .title = "drawing tokens",
       .formula = "y_t drawn from softmax(z_t / temperature),  among the top k,  or among those that make up p",
       .shapes = "z [vocabulary] at each step",
       .paper = "Fan, Lewis and Dauphin 2018 for top-k; Holtzman et al. 2020 for top-p",
       .cost = "that of greedy search",
       .page = "For texts that may vary. A temperature below 1 is more cautious, above 1 more varied.",
       .command = "heed predict pairs-model --sample --temperature 0.8 --top-k 20",
       .picture = ""},
      {.id = "B3",
       .name = "length_control",
       .title = "the user chooses how long a parallel output is",
       .formula = "n = the length that was asked for,  or factor * argmax_n p(n | x)",
       .shapes = "n tokens, all written at once",
       .paper =
           "Gu et al. 2018, Non-Autoregressive Neural Machine Translation; Ghazvininejad et al. 2019, Mask-Predict",
       .cost = "that of one pass for each refinement",
       .page =
           "A decoder that writes all positions at once must know how many there are. A classifier on the encoder says "
           "so, and the user may say otherwise: --length 12, --length-factor 1.2, --max-length.",
       .command = "heed predict parallel-model --length 12 < in.txt",
       .picture = ""},
  };
  return all;
}

const ModelPage* find_model_page(std::string_view name) {
  const auto& all = model_pages();
  const auto found = std::find_if(all.begin(), all.end(), [&](const ModelPage& page) { return page.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace heed::cli
