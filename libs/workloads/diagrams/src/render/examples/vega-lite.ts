import { source, type Example } from './example.js';

const vegaLite = source('vega-lite');

export const VEGA_LITE: readonly Example[] = [
  {
    name: 'Requests by hour',
    ...vegaLite`
      {
        "title": "Requests by hour and region",
        "width": 420,
        "height": 220,
        "data": {
          "values": [
            {"hour": 0, "region": "Europe", "requests": 120}, {"hour": 4, "region": "Europe", "requests": 90},
            {"hour": 8, "region": "Europe", "requests": 410}, {"hour": 12, "region": "Europe", "requests": 520},
            {"hour": 16, "region": "Europe", "requests": 480}, {"hour": 20, "region": "Europe", "requests": 260},
            {"hour": 0, "region": "America", "requests": 310}, {"hour": 4, "region": "America", "requests": 180},
            {"hour": 8, "region": "America", "requests": 110}, {"hour": 12, "region": "America", "requests": 300},
            {"hour": 16, "region": "America", "requests": 450}, {"hour": 20, "region": "America", "requests": 430}
          ]
        },
        "mark": {"type": "area", "line": true, "opacity": 0.55, "interpolate": "monotone"},
        "encoding": {
          "x": {"field": "hour", "type": "quantitative", "title": "Hour of the day"},
          "y": {"field": "requests", "type": "quantitative", "stack": null, "title": "Requests (thousand)"},
          "color": {"field": "region", "type": "nominal", "title": "Region"}
        }
      }
    `,
  },
  {
    name: 'Build times',
    ...vegaLite`
      {
        "title": "Build time by step",
        "width": 360,
        "height": 160,
        "data": {
          "values": [
            {"step": "Install", "seconds": 38}, {"step": "Compile", "seconds": 64},
            {"step": "Unit tests", "seconds": 112}, {"step": "Package", "seconds": 27},
            {"step": "Publish", "seconds": 15}
          ]
        },
        "encoding": {
          "y": {"field": "step", "type": "nominal", "sort": null, "title": null},
          "x": {"field": "seconds", "type": "quantitative", "title": "Seconds"}
        },
        "layer": [
          {"mark": {"type": "bar", "color": "#4c78a8", "cornerRadiusEnd": 3}},
          {
            "mark": {"type": "text", "align": "left", "dx": 4},
            "encoding": {"text": {"field": "seconds", "type": "quantitative"}}
          }
        ]
      }
    `,
  },
];
