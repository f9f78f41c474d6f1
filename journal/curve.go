// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import "math/big"

var (
	// fieldPrime is 2^255-19 (RFC 8032, 5.1).
	fieldPrime = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	// curveD is the d of the curve -x^2 + y^2 = 1 + d*x^2*y^2: -121665/121666.
	curveD = new(big.Int).Mul(big.NewInt(-121665), new(big.Int).ModInverse(big.NewInt(121666), fieldPrime))
)

// onCurve reports whether a point of the curve has this y: whether
// x^2 = (y^2-1)/(d*y^2+1) has a root (RFC 8032, 5.1.3). The quotient is a square
// if and only if the product is; the divisor is never 0.
func onCurve(y *big.Int) bool {
	one := big.NewInt(1)
	square := new(big.Int).Mul(y, y)
	dividend := new(big.Int).Sub(square, one)
	divisor := new(big.Int).Add(square.Mul(square, curveD), one)
	product := dividend.Mul(dividend, divisor)
	return big.Jacobi(product.Mod(product, fieldPrime), fieldPrime) >= 0
}
