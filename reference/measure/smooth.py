"""Golden values of the smooth calibration error and curve: relplot 1.0.3, numpy 2.4.6."""

import numpy as np
from relplot.diagrams import prepare_rel_diagram
from relplot.metrics import smECE, smECE_sigma

from data import calibrated

if __name__ == "__main__":
    f, y, share = calibrated(4000, 0.06)
    print("AT", [[float(s), float(smECE_sigma(f, y, s))] for s in np.array([2, 3, 7, 10, 51, 512]) / 1024])
    for name, args in {"n=4000 shift 0.06": (4000, 0.06), "n=20000 shift 0": (20000, 0.0),
                       "n=20 shift -0.1": (20, -0.1), "n=1 shift 0.3": (1, 0.3)}.items():
        f, y, share = calibrated(*args)
        for what, out in (("0/1", y), ("share", share)):
            print(name, what, [float(v) for v in smECE(f, out, return_width=True)])
    ends = np.array([0.0, 0.0, 1.0, 1.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    print("ENDS", [float(v) for v in smECE(*ends, return_width=True)])
    f, y, share = calibrated(4000, 0.06)
    d = prepare_rel_diagram(f, y, plot_confidence_band=False, report_CE_std=False, num_bootstrap=1)
    at = [0, 40, 100, 199]
    print("CURVE", float(d["sigma"]), [float(d[k][i]) for i in at for k in ("mesh", "mu", "density")])
