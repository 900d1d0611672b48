// How good one ranking is, while it is being judged; the figures of all queries come from the server.

/** What a judgment is worth: linear gain, as everywhere in the project. */
export const GRADES = { relevant: 2, partial: 1, not: 0 };

/** nDCG of a ranking's grades against the best order of all grades that are known. */
export function ndcg(ranking, all, depth = 10) {
  const best = gain([...all].sort((one, other) => other - one).slice(0, depth));
  return best ? gain(ranking.slice(0, depth)) / best : 0;
}

const gain = (grades) => grades.reduce((sum, grade, at) => sum + grade / Math.log2(at + 2), 0);
