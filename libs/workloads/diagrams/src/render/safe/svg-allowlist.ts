/*
 * What a drawing may be made of. Whatever is not listed here is left out.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter(Boolean));

export const ELEMENTS = words(`
  svg g defs title desc symbol use switch path rect circle ellipse line polyline polygon
  text tspan textPath image a marker linearGradient radialGradient stop pattern clipPath mask style filter
  feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap
  feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode
  feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence
`);

/** CSS properties, which are attributes as well. */
export const PROPERTIES = words(`
  alignment-baseline background background-color baseline-shift clip-path clip-rule color color-interpolation
  color-interpolation-filters direction display dominant-baseline fill fill-opacity fill-rule filter flood-color
  flood-opacity font font-family font-feature-settings font-kerning font-size font-size-adjust font-stretch
  font-style font-variant font-variant-numeric font-weight height image-rendering isolation letter-spacing
  lighting-color line-height marker marker-end marker-mid marker-start mask mask-type max-height max-width
  mix-blend-mode opacity overflow paint-order rx ry r cx cy x y shape-rendering stop-color stop-opacity stroke
  stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width
  text-align text-anchor text-decoration text-decoration-color text-decoration-line text-decoration-style
  text-rendering transform transform-box transform-origin unicode-bidi vector-effect visibility white-space width
  word-spacing writing-mode
`);

/** Besides, in a font that a drawing brings along. */
export const FONT_PROPERTIES = words(`src unicode-range font-display`);

export const ATTRIBUTES = words(`
  class id style role lang xml:space xml:lang aria-label aria-labelledby aria-describedby aria-roledescription
  aria-hidden version viewBox preserveAspectRatio x y x1 y1 x2 y2 cx cy r rx ry fx fy fr dx dy rotate width height
  d points pathLength transform textLength lengthAdjust startOffset method spacing side offset spreadMethod
  gradientUnits gradientTransform patternUnits patternContentUnits patternTransform clipPathUnits maskUnits
  maskContentUnits filterUnits primitiveUnits refX refY markerWidth markerHeight markerUnits orient
  in in2 result mode type values tableValues slope intercept amplitude exponent operator k1 k2 k3 k4 order
  kernelMatrix divisor bias targetX targetY edgeMode preserveAlpha surfaceScale diffuseConstant
  specularConstant specularExponent kernelUnitLength scale xChannelSelector yChannelSelector azimuth elevation
  z pointsAtX pointsAtY pointsAtZ limitingConeAngle stdDeviation radius baseFrequency numOctaves seed stitchTiles
  media
`);

/** Functions of CSS values: all others, by which a value could load something, make it void. `url` is looked at apart. */
export const FUNCTIONS = words(`
  rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark var calc min max clamp
  matrix matrix3d translate translatex translatey translate3d scale scalex scaley rotate rotatez skew skewx skewy
  blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia
  linear-gradient radial-gradient format local not is where nth-child nth-of-type nth-last-child
`);
