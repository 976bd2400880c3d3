// The backward induction of Algorithm 1, one thread a state; see proband/planners/layout.py for the numbering.
// A level is an array (2 + columns, n): values, masses, then the stakes of each column of the payoff.

#define MOST_TESTS 30

extern "C" __global__ void complete(REAL* level, unsigned char* actions, long long n, int columns, int m) {
    long long s = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= n) return;
    REAL best = level[2 * n + s];
    int action = m;
    for (int j = 1; j < columns; ++j) {
        REAL value = level[(2 + j) * n + s];
        if (value > best) { best = value; action = m + j; }
    }
    level[s] = best;
    actions[s] = level[n + s] > 0 ? action : m + columns;
}

// What a block of threads needs to know of a test that its set has not done.
struct Missing {
    int test, k, inner, shift;
    long long child;
    REAL cost;
};

// Thread i writes the entry of test i, if it is missing, after those of the earlier missing tests.
__device__ void describe(Missing* missing, int i, long long set, const long long* offset, long long child_start,
                         const long long* k, const long long* peers, const REAL* prices, int m) {
    if (i >= m || (set >> i & 1)) return;
    int inner = 1;
    for (int j = i + 1; j < m; ++j) if (set >> j & 1) inner *= (int)k[j];
    Missing& one = missing[__popcll(~set & ((1LL << i) - 1))];
    one.test = i;
    one.k = (int)k[i];
    one.inner = inner;
    one.shift = inner & (inner - 1) ? -1 : __ffs(inner) - 1;
    one.child = offset[set | 1LL << i] - child_start;
    one.cost = (set & peers[i]) ? prices[m + i] : prices[i];
}

extern "C" __global__ void solve_level(
    const long long* sets, const long long* size, const long long* offset, const long long* k, const long long* peers,
    const REAL* prices, int m, int columns, int maximum,
    const REAL* __restrict__ child, long long child_n, long long child_start,
    REAL* __restrict__ level, long long n, long long start, unsigned char* __restrict__ actions) {
    __shared__ Missing missing[MOST_TESTS];
    const long long set = sets[blockIdx.x];
    describe(missing, threadIdx.x, set, offset, child_start, k, peers, prices, m);
    __syncthreads();
    const int count = m - __popcll(set), block = (int)size[set];
    const long long at = offset[set] - start;
    for (int s = blockIdx.y * blockDim.x + threadIdx.x; s < block; s += gridDim.y * blockDim.x) {
        REAL mass = 0, best = 0;
        int action = m;
        for (int t = 0; t < count; ++t) {
            const int inner = missing[t].inner, shift = missing[t].shift, outcomes = missing[t].k;
            const int outer = shift >= 0 ? s >> shift : s / inner;
            const REAL* __restrict__ c = child + missing[t].child + s + (long long)outer * (outcomes - 1) * inner;
            if (t == 0) {
                for (int b = 0; b < outcomes; ++b) mass += c[child_n + (long long)b * inner];
                for (int j = 0; j < columns; ++j) {
                    const REAL* stake = c + (2 + j) * child_n;
                    REAL pooled = stake[0];
                    for (int b = 1; b < outcomes; ++b) {
                        const REAL other = stake[(long long)b * inner];
                        pooled = maximum ? (other > pooled ? other : pooled) : pooled + other;
                    }
                    level[(2 + j) * n + at + s] = pooled;
                    if (j == 0 || pooled > best) { best = pooled; action = m + j; }
                }
                if (!(mass > 0)) action = m + columns;
            }
            REAL value = c[0] - missing[t].cost * mass;
            if (outcomes == 2) value += c[inner];
            else for (int b = 1; b < outcomes; ++b) value += c[(long long)b * inner];
            if (value > best) { best = value; action = missing[t].test; }
        }
        level[at + s] = best;
        level[n + at + s] = mass;
        actions[start + at + s] = (unsigned char)action;
    }
}

// The same for tests of two outcomes and blocks of at least four states, four neighbours a thread: whatever the
// stride of a test, the eight children of four neighbours lie in two aligned groups of four.
__device__ REAL4 add_children(const REAL* __restrict__ c, int s, int shift) {
    if (shift >= 2) {
        c += s + ((s >> shift) << shift);
        const REAL4 a = *(const REAL4*)c, b = *(const REAL4*)(c + (1 << shift));
        return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
    }
    const REAL4 a = *(const REAL4*)(c + 2 * s), b = *(const REAL4*)(c + 2 * s + 4);
    if (shift == 1) return {a.x + a.z, a.y + a.w, b.x + b.z, b.y + b.w};
    return {a.x + a.y, a.z + a.w, b.x + b.y, b.z + b.w};
}

__device__ REAL4 largest_child(const REAL* __restrict__ c, int s, int shift) {
    if (shift >= 2) {
        c += s + ((s >> shift) << shift);
        const REAL4 a = *(const REAL4*)c, b = *(const REAL4*)(c + (1 << shift));
        return {max(a.x, b.x), max(a.y, b.y), max(a.z, b.z), max(a.w, b.w)};
    }
    const REAL4 a = *(const REAL4*)(c + 2 * s), b = *(const REAL4*)(c + 2 * s + 4);
    if (shift == 1) return {max(a.x, a.z), max(a.y, a.w), max(b.x, b.z), max(b.y, b.w)};
    return {max(a.x, a.y), max(a.z, a.w), max(b.x, b.y), max(b.z, b.w)};
}

__device__ void prefer(REAL value, unsigned char candidate, REAL& best, unsigned char& action) {
    const bool better = value > best;
    best = better ? value : best;
    action = better ? candidate : action;
}

extern "C" __global__ void solve_level_of_twos(
    const long long* sets, const long long* size, const long long* offset, const long long* k, const long long* peers,
    const REAL* prices, int m, int columns, int maximum,
    const REAL* __restrict__ child, long long child_n, long long child_start,
    REAL* __restrict__ level, long long n, long long start, unsigned char* __restrict__ actions) {
    __shared__ Missing missing[MOST_TESTS];
    const long long set = sets[blockIdx.x];
    describe(missing, threadIdx.x, set, offset, child_start, k, peers, prices, m);
    __syncthreads();
    const int count = m - __popcll(set), block = (int)size[set];
    const long long at = offset[set] - start;
    for (int s = 4 * (blockIdx.y * blockDim.x + threadIdx.x); s < block; s += 4 * gridDim.y * blockDim.x) {
        const int shift = missing[0].shift;
        const REAL* c = child + missing[0].child;
        const REAL4 mass = add_children(c + child_n, s, shift);
        *(REAL4*)(level + n + at + s) = mass;
        REAL4 best;
        uchar4 action = {(unsigned char)m, (unsigned char)m, (unsigned char)m, (unsigned char)m};
        for (int j = 0; j < columns; ++j) {
            const REAL* stake = c + (2 + j) * child_n;
            const REAL4 pooled = maximum ? largest_child(stake, s, shift) : add_children(stake, s, shift);
            *(REAL4*)(level + (2 + j) * n + at + s) = pooled;
            if (j == 0) { best = pooled; continue; }
            prefer(pooled.x, m + j, best.x, action.x);
            prefer(pooled.y, m + j, best.y, action.y);
            prefer(pooled.z, m + j, best.z, action.z);
            prefer(pooled.w, m + j, best.w, action.w);
        }
        const unsigned char unseen = m + columns;
        if (!(mass.x > 0)) action.x = unseen;
        if (!(mass.y > 0)) action.y = unseen;
        if (!(mass.z > 0)) action.z = unseen;
        if (!(mass.w > 0)) action.w = unseen;
#pragma unroll 4
        for (int t = 0; t < count; ++t) {
            const REAL4 sum = add_children(child + missing[t].child, s, missing[t].shift);
            const REAL cost = missing[t].cost;
            const unsigned char test = missing[t].test;
            prefer(sum.x - cost * mass.x, test, best.x, action.x);
            prefer(sum.y - cost * mass.y, test, best.y, action.y);
            prefer(sum.z - cost * mass.z, test, best.z, action.z);
            prefer(sum.w - cost * mass.w, test, best.w, action.w);
        }
        *(REAL4*)(level + at + s) = best;
        *(uchar4*)(actions + start + at + s) = action;
    }
}
