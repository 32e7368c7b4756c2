/** Above this many members a set is matched greedily: the exact way costs the cube. */
export const MAX_EXACT_SET = 12

/** Which of the rows goes with which of the columns so that the sum of costs is least; each at most once. */
export function assign(
  rows: number,
  columns: number,
  cost: (row: number, column: number) => number,
): readonly (readonly [number, number])[] {
  return rows <= MAX_EXACT_SET && columns <= MAX_EXACT_SET
    ? assignExactly(rows, columns, cost)
    : assignGreedily(rows, columns, cost)
}

/** The Hungarian method with potentials, on a square padded with columns and rows that cost nothing. */
function assignExactly(
  rows: number,
  columns: number,
  cost: (row: number, column: number) => number,
): [number, number][] {
  const size = Math.max(rows, columns)
  const costAt = (row: number, column: number): number => (row < rows && column < columns ? cost(row, column) : 0)
  const rowPotential = new Float64Array(size + 1)
  const columnPotential = new Float64Array(size + 1)
  const rowOf = new Int32Array(size + 1)
  for (let row = 1; row <= size; row++) {
    const way = new Int32Array(size + 1)
    const least = new Float64Array(size + 1).fill(Number.POSITIVE_INFINITY)
    const isUsed = new Uint8Array(size + 1)
    rowOf[0] = row
    let column = 0
    do {
      isUsed[column] = 1
      const current = rowOf[column]!
      let delta = Number.POSITIVE_INFINITY
      let next = 0
      for (let j = 1; j <= size; j++) {
        if (isUsed[j]) continue
        const reduced = costAt(current - 1, j - 1) - rowPotential[current]! - columnPotential[j]!
        if (reduced < least[j]!) {
          least[j] = reduced
          way[j] = column
        }
        if (least[j]! < delta) {
          delta = least[j]!
          next = j
        }
      }
      for (let j = 0; j <= size; j++) {
        if (isUsed[j]) {
          rowPotential[rowOf[j]!]! += delta
          columnPotential[j]! -= delta
        } else {
          least[j]! -= delta
        }
      }
      column = next
    } while (rowOf[column] !== 0)
    while (column !== 0) {
      rowOf[column] = rowOf[way[column]!]!
      column = way[column]!
    }
  }
  const pairs: [number, number][] = []
  for (let column = 1; column <= size; column++) {
    const row = rowOf[column]! - 1
    if (row < rows && column - 1 < columns) pairs.push([row, column - 1])
  }
  return pairs.sort(([x], [y]) => x - y)
}

function assignGreedily(
  rows: number,
  columns: number,
  cost: (row: number, column: number) => number,
): [number, number][] {
  const offers: { row: number; column: number; cost: number }[] = []
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) offers.push({ row, column, cost: cost(row, column) })
  }
  offers.sort((x, y) => x.cost - y.cost || x.row - y.row || x.column - y.column)
  const isRowTaken = new Uint8Array(rows)
  const isColumnTaken = new Uint8Array(columns)
  const pairs: [number, number][] = []
  for (const { row, column } of offers) {
    if (isRowTaken[row] || isColumnTaken[column]) continue
    isRowTaken[row] = 1
    isColumnTaken[column] = 1
    pairs.push([row, column])
  }
  return pairs.sort(([x], [y]) => x - y)
}
